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
import { modexp, modexpPrice } from './modexp.ts'
import { type Precompile, pricePerWord, priceSince, type Run } from './precompile.ts'
import { blake2, blake2Price, ecrecover, p256Verify, ripemd160Digest, sha256Digest } from './signatures-and-hashes.ts'

/** Loaded at the first call: its curve library takes a tenth of a second. */
const pointEvaluation: Run = async (data, check) => (await import('./point-evaluation.ts')).pointEvaluation(data, check)

/** Precompiles by number; the fork from which each is active stands in rules/execution-rules.ts, networks' own prices in config/precompile-prices.ts. */
export const PRECOMPILES: ReadonlyMap<number, Precompile> = new Map([
  [0x01, { least: 3_000n, run: ecrecover }],
  [0x02, { least: 60n, run: sha256Digest, price: pricePerWord(60n, 12n) }],
  [0x03, { least: 600n, run: ripemd160Digest, price: pricePerWord(600n, 120n) }],
  [0x04, { least: 15n, run: data => Uint8Array.from(data), price: pricePerWord(15n, 3n) }],
  [0x05, { least: 0n, run: modexp, price: modexpPrice }],
  [0x06, { least: 150n, run: addPoints, price: priceSince('istanbul', 150n, 500n) }],
  [0x07, { least: 6_000n, run: multiplyPoint, price: priceSince('istanbul', 6_000n, 40_000n) }],
  [0x08, { least: 45_000n, run: pairing, price: pairingPrice }],
  [0x09, { least: 0n, run: blake2, price: blake2Price }],
  [0x0a, { least: 50_000n, run: pointEvaluation }],
  [0x0b, { least: 375n, run: addG1 }],
  [0x0c, { least: 12_000n, run: multiplesG1, price: multiplesG1Price }],
  [0x0d, { least: 600n, run: addG2 }],
  [0x0e, { least: 22_500n, run: multiplesG2, price: multiplesG2Price }],
  [0x0f, { least: 70_300n, run: blsPairing, price: blsPairingPrice }],
  [0x10, { least: 5_500n, run: mapFieldToG1 }],
  [0x11, { least: 23_800n, run: mapFieldToG2 }],
  [0x100, { least: 6_900n, run: p256Verify }],
])
