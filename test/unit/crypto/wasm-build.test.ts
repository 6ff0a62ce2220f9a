import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { compile, MODULES, wasmPath } from '../../../scripts/build-wasm.ts'

test.each(MODULES)(
  'the committed module of %s is what its source compiles to',
  async entry => {
    const built = Buffer.from(await compile(entry))
    expect(built.equals(readFileSync(wasmPath(entry)))).toBe(true)
  },
  60_000,
)
