import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { artifactPath, CONTRACTS, compile } from '../../../scripts/build-contracts.ts'

test.each(CONTRACTS)(
  'the committed artifact of %s is what its source compiles to',
  name => {
    expect(compile(name)).toBe(readFileSync(artifactPath(name), 'utf8'))
  },
  60_000,
)
