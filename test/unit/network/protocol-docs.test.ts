import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { renderProtocolDocs } from '../../../devtools/docs/protocol-docs.ts'

test('docs/network.md is what the declarations say (npm run docs writes it)', () => {
  expect(readFileSync(new URL('../../../docs/network.md', import.meta.url), 'utf8')).toBe(renderProtocolDocs())
})
