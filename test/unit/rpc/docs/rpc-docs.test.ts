import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { renderRpcDocs } from '../../../../devtools/docs/rpc-docs.ts'

test('docs/rpc.md is what the table says (npm run docs writes it)', () => {
  expect(readFileSync(new URL('../../../../docs/rpc.md', import.meta.url), 'utf8')).toBe(renderRpcDocs())
})
