import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { renderRpcDocs } from '../../../../src/rpc/docs/rpc-docs.ts'

it('docs/rpc.md is what the table says (npm run docs writes it)', () => {
  expect(readFileSync(new URL('../../../../docs/rpc.md', import.meta.url), 'utf8')).toBe(renderRpcDocs())
})
