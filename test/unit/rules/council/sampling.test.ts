import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { samplingTable } from '../../../support/sampling.ts'

test('the table of docs/design/council.md is what the hypergeometric distribution says', () => {
  const page = readFileSync(new URL('../../../../docs/design/council.md', import.meta.url), 'utf8')
  expect(page).toContain(samplingTable().join('\n'))
})
