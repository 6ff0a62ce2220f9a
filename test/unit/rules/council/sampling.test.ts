import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { samplingTables } from '../../../support/sampling.ts'

test('the tables of docs/design/council.md are what the hypergeometric distribution says', () => {
  const page = readFileSync(new URL('../../../../docs/design/council.md', import.meta.url), 'utf8')
  for (const lines of samplingTables()) expect(page).toContain(lines.join('\n'))
})
