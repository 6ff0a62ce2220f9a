import { createHash } from 'node:crypto'
import { bls12_381 } from '@noble/curves/bls12-381.js'
import { bytesEqual, bytesToBigint, concatBytes, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { blsPoints } from '../../../crypto/bls12-381/choose-points.ts'
import { type G1, g1From, g2From, loadMcl, type Mcl } from '../../../crypto/bls12-381/mcl.ts'
import { type BlsPoints, FIELD_BYTES } from '../../../crypto/bls12-381/points.ts'
import { PRECOMPILE_REASON } from '../../failure-reasons.ts'
import type { Run } from './precompile.ts'

/* Point evaluation (EIP-4844); mcl checks the proof. */

/** [tau]G2 of the KZG ceremony's trusted setup: the only part of the setup needed to verify a proof. */
export const TAU_G2 =
  'b5bfd7dd8cdeb128843bc287230af38926187075cbfbefa81009a2ce615ac53d2914e5870cb452d2afaaab24f3499f72' +
  '185cbfee53492714734429b7b38608e23926c911cceceac9a36851477ba4c60b087041de621000edc98edada20c1def2'
const { Point: G2Point } = bls12_381.G2
const ORDER = bls12_381.fields.Fr.ORDER

/** Versioned hash, point, value, commitment, proof. */
const INPUT_BYTES = 192
const VERSION = Uint8Array.of(1)
/** Field elements of a blob, and the order of their field. */
const OUTPUT = concatBytes(hexToBytes(toWord(4_096n)), hexToBytes(toWord(ORDER)))

const fieldBytes = (value: bigint): Uint8Array => hexToBytes(`0x${value.toString(16).padStart(2 * FIELD_BYTES, '0')}`)

const createVerifier = (mcl: Mcl, points: BlsPoints) => {
  const lines = (point: InstanceType<typeof G2Point>) => {
    const { x, y } = point.toAffine()
    return new mcl.PrecomputedG2(g2From(mcl, concatBytes(...[x.c0, x.c1, y.c0, y.c1].map(fieldBytes))))
  }
  const tau = lines(G2Point.fromHex(TAU_G2))
  const minusOne = lines(G2Point.BASE.negate())
  const base = bls12_381.G1.Point.BASE.toAffine()
  const one = g1From(mcl, concatBytes(fieldBytes(base.x), fieldBytes(base.y)))

  const pointOf = (bytes: Uint8Array): G1 | undefined => {
    const point = points.decompressG1(bytes)
    return point && g1From(mcl, point)
  }
  const scalarFrom = (bytes: Uint8Array) => {
    if (bytesToBigint(bytes) >= ORDER) return undefined
    const scalar = new mcl.Fr()
    scalar.setBigEndianMod(bytes)
    return scalar
  }

  /** e(commitment - y + z proof, 1) = e(proof, tau), so that both points of G2 are known beforehand; undefined: one is none. */
  return (commitment: Uint8Array, z: Uint8Array, y: Uint8Array, proof: Uint8Array): boolean | undefined => {
    const [opening, whole] = [pointOf(proof), pointOf(commitment)]
    const [at, value] = [scalarFrom(z), scalarFrom(y)]
    if (opening === undefined || whole === undefined || at === undefined || value === undefined) return undefined
    const left = mcl.add(whole, mcl.mulVec([opening, one], [at, mcl.neg(value)]))
    // The pairing of infinity is 1, that of any other point with a generator is not.
    if (left.isZero() || opening.isZero()) return left.isZero() && opening.isZero()
    return mcl.finalExp(mcl.precomputedMillerLoop2(left, minusOne, opening, tau)).isOne()
  }
}

let verifier: ReturnType<typeof createVerifier> | undefined

export const pointEvaluation: Run = async (data, check) => {
  if (data.byteLength !== INPUT_BYTES) return PRECOMPILE_REASON.inputLength
  const [z, y] = [data.subarray(32, 64), data.subarray(64, 96)]
  const [commitment, proof] = [data.subarray(96, 144), data.subarray(144)]
  const digest = createHash('sha256').update(commitment).digest()
  if (!bytesEqual(concatBytes(VERSION, digest.subarray(1)), data.subarray(0, 32)))
    return PRECOMPILE_REASON.otherCommitment
  await check()
  verifier ??= createVerifier(await loadMcl(), await blsPoints())
  const isRight = verifier(commitment, z, y, proof)
  if (isRight === undefined) return PRECOMPILE_REASON.proofInputs
  return isRight ? Uint8Array.from(OUTPUT) : PRECOMPILE_REASON.proofFalse
}
