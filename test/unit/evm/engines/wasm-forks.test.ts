import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { EVM_FORKS } from '../../../../src/config/forks.ts'

/* The WebAssembly module repeats the places of forks in EVM_FORKS by hand, since AssemblyScript cannot import them. */

const SOURCE = new URL('../../../../src/evm/engines/wasm/assembly/prices.ts', import.meta.url)

const upperSnake = (name: string): string => name.replace(/[A-Z]/g, letter => `_${letter}`).toUpperCase()

test('forks in the module have the numbers of EVM_FORKS', () => {
  const expected = new Map(EVM_FORKS.map((name, place) => [upperSnake(name), place]))
  const source = readFileSync(SOURCE, 'utf8')
  const section = source.slice(source.indexOf('// Indexes in config/forks.ts.'), source.indexOf('export let fork'))
  const written = [...section.matchAll(/export const (\w+): i32 = (\d+);/g)]
  expect(written.length).toBeGreaterThan(5)
  expect(written.map(([, name, place]) => [name, Number(place)])).toEqual(
    written.map(([, name]) => [name, expected.get(name as string)]),
  )
})
