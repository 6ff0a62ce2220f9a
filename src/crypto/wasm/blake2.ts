import type { SlicedWork } from '@tandem/base/async/sliced-work.ts'
import { type PausableExports, SharedWasmMemory } from './shared-memory.ts'
import { loadWasm } from './wasm.ts'

interface Exports extends PausableExports {
  begin(isLast: boolean): void
  rounds(done: number, count: number): void
  finish(): void
}

const wasm = loadWasm<Exports>(new URL('../assembly/blake2.wasm', import.meta.url))
const block = new SharedWasmMemory(wasm)

// The memory never grows, so these views stay valid.
const h = new Uint8Array(wasm.memory.buffer, wasm.BLOCK.value, 64)
/** h, m and t, as they stand in the input. */
const operands = new Uint8Array(wasm.memory.buffer, wasm.BLOCK.value, 208)

/** Input size of the precompile: rounds (4, big-endian), h (64), m (128), t (16), last-block flag (1). */
export const BLAKE2_INPUT_BYTES = 213

/** 25 ns each once the module is optimised, five times as much before. */
export const ROUNDS_PER_PART = 10_000

const begin = (input: Uint8Array): void => {
  operands.set(input.subarray(4, 212))
  wasm.begin(input[212] === 1)
}

/** Compresses as `blake2Compress` does, without a pause: at most ROUNDS_PER_PART rounds. */
export const shortBlake2Compress = (input: Uint8Array, rounds: number): Uint8Array => {
  const memoryOwner = block.open()
  begin(input)
  wasm.rounds(0, rounds)
  wasm.finish()
  block.close(memoryOwner)
  return new Uint8Array(h)
}

/** BLAKE2b's compression function over the input of EIP-152, which must be well-formed; returns 64 bytes in fresh memory. */
export function* blake2Compress(input: Uint8Array, rounds: number): SlicedWork<Uint8Array> {
  const memoryOwner = block.open()
  begin(input)
  for (let done = 0; done < rounds; done += ROUNDS_PER_PART) {
    if (done > 0) {
      yield
      block.enter(memoryOwner)
    }
    wasm.rounds(done, Math.min(ROUNDS_PER_PART, rounds - done))
  }
  wasm.finish()
  block.close(memoryOwner)
  return new Uint8Array(h)
}
