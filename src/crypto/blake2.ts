import { loadWasm, type WasmMemory } from './wasm.ts'

interface Exports {
  readonly memory: WasmMemory
  hAt(): number
  mAt(): number
  tAt(): number
  compress(rounds: number, isLast: boolean): void
}

const wasm = loadWasm<Exports>(new URL('./assembly/blake2.wasm', import.meta.url))

// The memory never grows, so these views stay valid.
const h = Buffer.from(wasm.memory.buffer, wasm.hAt(), 64)
const m = Buffer.from(wasm.memory.buffer, wasm.mAt(), 128)
const t = Buffer.from(wasm.memory.buffer, wasm.tAt(), 16)

/** Bytes of a call of the precompile: rounds (4, big-endian), h (64), m (128), t (16), whether it is the last block (1). */
export const BLAKE2_INPUT_BYTES = 213

/** BLAKE2b's compression function over the input of EIP-152, which must be well-formed; 64 bytes in fresh memory. */
export const blake2Compress = (input: Uint8Array, rounds: number): Uint8Array => {
  h.set(input.subarray(4, 68))
  m.set(input.subarray(68, 196))
  t.set(input.subarray(196, 212))
  wasm.compress(rounds, input[212] === 1)
  return Uint8Array.from(h)
}
