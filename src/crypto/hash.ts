import type { Hex } from '@tandem/base/bytes.ts'
import { loadWasm, type WasmConstant, type WasmMemory } from './wasm/wasm.ts'

/*
 * keccak-256 in WebAssembly: 10 to 15 times as fast as the JavaScript libraries (node:crypto has only SHA-3). The module hashes the
 * content of a window of its memory; a longer input passes through it in parts, so memory stays at one page. Each thread that imports
 * this file has its own instance.
 */
interface Exports {
  readonly memory: WasmMemory
  readonly WINDOW: WasmConstant
  readonly WINDOW_BYTES: WasmConstant
  readonly HASH: WasmConstant
  hash(size: number): void
  reset(): void
  absorb(): void
  finish(size: number): void
}

const wasm = loadWasm<Exports>(new URL('./assembly/hash.wasm', import.meta.url))

// The memory never grows, so these views stay valid.
const WINDOW_BYTES = wasm.WINDOW_BYTES.value
const window = Buffer.from(wasm.memory.buffer, wasm.WINDOW.value, WINDOW_BYTES)
const hash = Buffer.from(wasm.memory.buffer, wasm.HASH.value, 32)

const compute = (bytes: Uint8Array): void => {
  const size = bytes.byteLength
  if (size <= WINDOW_BYTES) {
    window.set(bytes)
    wasm.hash(size)
    return
  }
  computeLong([bytes])
}

/** Passes the parts through the window. */
const computeLong = (parts: readonly Uint8Array[]): void => {
  wasm.reset()
  let filled = 0
  for (const part of parts) {
    for (let at = 0; at < part.byteLength; ) {
      const piece = part.subarray(at, at + WINDOW_BYTES - filled)
      window.set(piece, filled)
      at += piece.byteLength
      filled += piece.byteLength
      if (filled < WINDOW_BYTES) continue
      wasm.absorb()
      filled = 0
    }
  }
  wasm.finish(filled)
}

const takeHash = (): Uint8Array => {
  const out = new Uint8Array(32)
  out.set(hash)
  return out
}

/** keccak256 of an input of any length, in fresh memory. */
export const keccak256 = (bytes: Uint8Array): Uint8Array => {
  compute(bytes)
  return takeHash()
}

/** keccak256 as lower-case hex. */
export const keccak256Hex = (bytes: Uint8Array): Hex => {
  compute(bytes)
  return `0x${hash.toString('hex')}`
}

/** keccak256 of the concatenated parts, without joining them first. */
export const keccak256Parts = (parts: readonly Uint8Array[]): Uint8Array => {
  computeParts(parts)
  return takeHash()
}

/** Writes keccak256 of the concatenated parts to the first 32 bytes of `out`. */
export const keccak256PartsInto = (parts: readonly Uint8Array[], out: Uint8Array): void => {
  computeParts(parts)
  out.set(hash)
}

const computeParts = (parts: readonly Uint8Array[]): void => {
  let size = 0
  for (const part of parts) size += part.byteLength
  if (size > WINDOW_BYTES) {
    computeLong(parts)
    return
  }
  let at = 0
  for (const part of parts) {
    window.set(part, at)
    at += part.byteLength
  }
  wasm.hash(size)
}

/** Writes the 32 bytes of the hash at `at` of `out`, for callers that hash very often. */
export const keccak256Into = (bytes: Uint8Array, out: Uint8Array, at = 0): void => {
  compute(bytes)
  out.set(hash, at)
}
