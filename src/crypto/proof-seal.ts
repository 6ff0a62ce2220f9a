import { bytesToBigint } from '@tandem/base/bytes.ts'
import { loadWasm, type WasmConstant, type WasmMemory } from './wasm/wasm.ts'

/* The cheap half of a proof header's work in one call: seal hash, hash over the nonce, comparison; the caller fills the views below. */
interface Exports {
  readonly memory: WasmMemory
  readonly SEALED: WasmConstant
  readonly SEALED_BYTES: WasmConstant
  readonly NONCE: WasmConstant
  readonly MIX: WasmConstant
  readonly TARGET: WasmConstant
  readonly HASH: WasmConstant
  meetsTarget(version: number, sealedBytes: number, mixBytes: number): number
}

const wasm = loadWasm<Exports>(new URL('./assembly/proof-seal.wasm', import.meta.url))

// The memory never grows, so these views stay valid.
const viewOf = ({ value }: WasmConstant, size: number): Buffer => Buffer.from(wasm.memory.buffer, value, size)
const hash = viewOf(wasm.HASH, 32)

/** Encoded fields that the seal covers. */
export const SEALED_FIELDS = viewOf(wasm.SEALED, wasm.SEALED_BYTES.value)
/** Target as a word. */
export const SEAL_TARGET = viewOf(wasm.TARGET, 32)
const SEAL_NONCE = viewOf(wasm.NONCE, 8)
const SEAL_MIX_HASH = viewOf(wasm.MIX, 32)

/** Returns undefined when the work over the first bytes of SEALED_FIELDS meets SEAL_TARGET, and otherwise its hash. */
export const sealAboveTarget = (
  version: number,
  sealedBytes: number,
  nonce: Uint8Array,
  mixHash: Uint8Array,
): bigint | undefined => {
  SEAL_NONCE.set(nonce)
  SEAL_MIX_HASH.set(mixHash)
  return wasm.meetsTarget(version, sealedBytes, mixHash.byteLength) ? undefined : bytesToBigint(hash)
}
