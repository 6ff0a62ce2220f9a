import { createRandom } from '@tandem/base/random.ts'
import { expect, test } from 'vitest'
import { loadEvmModule } from '../../../../src/evm/engines/wasm/evm-module.ts'

const wasm = loadEvmModule(4, undefined)

/** Bits of the module for a code, in memory that other codes have used. */
const found = (code: Uint8Array): readonly number[] => {
  wasm.dropCodes()
  const at = wasm.codeRoom(code.byteLength)
  const memory = Buffer.from(wasm.memory.buffer)
  memory.fill(0xff, at, at + code.byteLength + 256)
  memory.set(code, at)
  const jumps = wasm.keepCode(at, code.byteLength)
  return [...code.keys()].filter(i => ((memory[jumps + (i >> 3)] as number) >> (i & 7)) & 1)
}

const expected = (code: Uint8Array): readonly number[] => {
  const destinations: number[] = []
  for (let i = 0; i < code.byteLength; i++) {
    const op = code[i] as number
    if (op === 0x5b) destinations.push(i)
    else if (op >= 0x60 && op <= 0x7f) i += op - 0x5f
  }
  return destinations
}

test('jump destinations of random codes are those of one byte after the other', () => {
  const random = createRandom(33)
  for (let round = 0; round < 4_000; round++) {
    const [destinations, pushes] = [random.next(), random.next()]
    const [least, most] = [random.below(32), random.below(32)].sort((a, b) => a - b) as [number, number]
    const op = (): number => {
      if (random.chance(destinations)) return 0x5b
      return random.chance(pushes) ? 0x60 + least + random.below(most - least + 1) : random.below(256)
    }
    const code = Uint8Array.from({ length: random.below(200) }, op)
    expect(found(code), Buffer.from(code).toString('hex')).toEqual(expected(code))
  }
})

test('each push hides its own data, wherever it stands in sixteen bytes', () => {
  for (let op = 0x5f; op <= 0x80; op++)
    for (let before = 0; before < 17; before++) {
      const code = new Uint8Array(80).fill(0x5b)
      code[before] = op
      expect(found(code), `${op} at ${before}`).toEqual(expected(code))
    }
})
