import { BLAKE2_INPUT_BYTES } from '../../../crypto/wasm/blake2.ts'
import { ADD_BYTES, MULTIPLY_BYTES } from '../../../crypto/wasm/bn254.ts'
import {
  addG1,
  addG2,
  blsPairing,
  blsPairingPrice,
  mapFieldToG1,
  mapFieldToG2,
  multiplesG1,
  multiplesG1Price,
  multiplesG2,
  multiplesG2Price,
} from './bls12-381.ts'
import { addPoints, multiplyPoint, pairing, pairingPrice } from './bn254.ts'
import { modexp, modexpPrice, modexpReads } from './modexp.ts'
import { type Precompile, pricePerWord, priceSince, type Run } from './precompile.ts'
import { blake2, blake2Price, ecrecover, p256Verify, ripemd160Digest, sha256Digest } from './signatures-and-hashes.ts'

/** Loaded at the first call: its curve library takes a tenth of a second. */
const pointEvaluation: Run = async (data, check) => (await import('./point-evaluation.ts')).pointEvaluation(data, check)

const first = (bytes: number) => () => bytes
/** An input of another length is wrong: one byte more tells that as well as megabytes. */
const exactly = (bytes: number) => first(bytes + 1)

/** Precompiles by number; the fork from which each is active stands in rules/execution-rules.ts, networks' own prices in config/precompile-prices.ts. */
export const PRECOMPILES: ReadonlyMap<number, Precompile> = new Map([
  [0x01, { least: 3_000n, run: ecrecover, reads: first(128) }],
  [0x02, { least: 60n, run: sha256Digest, price: pricePerWord(60n, 12n) }],
  [0x03, { least: 600n, run: ripemd160Digest, price: pricePerWord(600n, 120n) }],
  [0x04, { least: 15n, run: data => Uint8Array.from(data), price: pricePerWord(15n, 3n) }],
  [0x05, { least: 0n, run: modexp, price: modexpPrice, reads: modexpReads }],
  [0x06, { least: 150n, run: addPoints, price: priceSince('istanbul', 150n, 500n), reads: first(ADD_BYTES) }],
  [
    0x07,
    { least: 6_000n, run: multiplyPoint, price: priceSince('istanbul', 6_000n, 40_000n), reads: first(MULTIPLY_BYTES) },
  ],
  [0x08, { least: 45_000n, run: pairing, price: pairingPrice }],
  [0x09, { least: 0n, run: blake2, price: blake2Price, reads: exactly(BLAKE2_INPUT_BYTES) }],
  [0x0a, { least: 50_000n, run: pointEvaluation, reads: exactly(192) }],
  [0x0b, { least: 375n, run: addG1, reads: exactly(256) }],
  [0x0c, { least: 12_000n, run: multiplesG1, price: multiplesG1Price }],
  [0x0d, { least: 600n, run: addG2, reads: exactly(512) }],
  [0x0e, { least: 22_500n, run: multiplesG2, price: multiplesG2Price }],
  [0x0f, { least: 70_300n, run: blsPairing, price: blsPairingPrice }],
  [0x10, { least: 5_500n, run: mapFieldToG1, reads: exactly(64) }],
  [0x11, { least: 23_800n, run: mapFieldToG2, reads: exactly(128) }],
  [0x100, { least: 6_900n, run: p256Verify, reads: exactly(160) }],
])
