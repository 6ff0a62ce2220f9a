import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { renderProtocolDocs } from '../../../src/network/protocol-docs.ts'

it('docs/network.md is what the declarations say (npm run docs writes it)', () => {
  expect(readFileSync(new URL('../../../docs/network.md', import.meta.url), 'utf8')).toBe(renderProtocolDocs())
})
