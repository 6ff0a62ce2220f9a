import type { Common } from '@ethereumjs/common'
import { bls12_381 } from '@noble/curves/bls12-381.js'
import { concatBytes, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { blsPoints } from '../../../crypto/bls12-381/choose-points.ts'
import { type G1, g1From, g2From, loadMcl, type Mcl } from '../../../crypto/bls12-381/mcl.ts'
import { type BlsPoints, FIELD_BYTES } from '../../../crypto/bls12-381/points.ts'
import { badArguments, kzgVerifier, TAU_G2 } from '../kzg.ts'
import { ethereumJsPrecompile } from './ethereumjs-precompile.ts'
import { type Precompile, yieldIfDue } from './precompile.ts'

/* Point evaluation (EIP-4844): EthereumJS checks the form and the price, mcl the proof. */

const { Fr } = bls12_381.fields
const { Point: G2Point } = bls12_381.G2

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

  const pointOf = (hex: Hex): G1 => {
    const point = points.decompressG1(hexToBytes(hex))
    if (point === undefined) throw badArguments('not a point of G1')
    return g1From(mcl, point)
  }
  const scalarFrom = (hex: Hex) => {
    if (BigInt(hex) >= Fr.ORDER) throw badArguments('scalar not canonical')
    const scalar = new mcl.Fr()
    scalar.setBigEndianMod(hexToBytes(hex))
    return scalar
  }

  /** e(commitment - y + z proof, 1) = e(proof, tau), so that both points of G2 are known beforehand. */
  return (commitment: Hex, z: Hex, y: Hex, proof: Hex): boolean => {
    const opening = pointOf(proof)
    const multiples = mcl.mulVec([opening, one], [scalarFrom(z), mcl.neg(scalarFrom(y))])
    const left = mcl.add(pointOf(commitment), multiples)
    // The pairing of infinity is 1, that of any other point with a generator is not.
    if (left.isZero() || opening.isZero()) return left.isZero() && opening.isZero()
    return mcl.finalExp(mcl.precomputedMillerLoop2(left, minusOne, opening, tau)).isOne()
  }
}

let verifier: ReturnType<typeof createVerifier> | undefined
const commons = new WeakMap<Common, Common>()

/** Returns the same rules with this project's proof verification. */
const withVerifier = (common: Common, verifyProof: ReturnType<typeof createVerifier>): Common => {
  let found = commons.get(common)
  if (found === undefined) {
    const customCrypto = { ...common.customCrypto, kzg: { ...kzgVerifier, verifyProof } }
    found = Object.create(common, { customCrypto: { value: customCrypto } }) as Common
    commons.set(common, found)
  }
  return found
}

export const pointEvaluation: Precompile = async input => {
  await yieldIfDue(input)
  verifier ??= createVerifier(await loadMcl(), await blsPoints())
  return ethereumJsPrecompile(input.common, 0x0a)({ ...input, common: withVerifier(input.common, verifier) })
}
