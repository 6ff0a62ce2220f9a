import type { Common } from '@ethereumjs/common'
import { bls12_381 } from '@noble/curves/bls12-381.js'
import { decompressG1, type G1, g1From, g2From, loadMcl, type Mcl } from '../../../crypto/bls12-381.ts'
import { type Hex, hexToBytes } from '../../../util/bytes.ts'
import { badArguments, kzgVerifier, TAU_G2 } from '../kzg.ts'
import { ethereumJsPrecompile } from './ethereumjs-precompile.ts'
import { type Precompile, yieldIfDue } from './precompile.ts'

/* Point evaluation (EIP-4844): EthereumJS checks the form and the price, mcl the proof. */

const { Fr } = bls12_381.fields
const G2 = bls12_381.G2.Point

const createVerifier = (mcl: Mcl) => {
  const lines = (point: InstanceType<typeof G2>) => {
    const { x, y } = point.toAffine()
    return new mcl.PrecomputedG2(g2From(mcl, [x.c0, x.c1], [y.c0, y.c1]))
  }
  const tau = lines(G2.fromHex(TAU_G2))
  const minusOne = lines(G2.BASE.negate())
  const base = bls12_381.G1.Point.BASE.toAffine()
  const one = g1From(mcl, base.x, base.y)

  const pointFrom = (hex: Hex): G1 => {
    const point = decompressG1(mcl, hexToBytes(hex))
    if (point === undefined) throw badArguments('not a point of G1')
    return point
  }
  const scalarFrom = (hex: Hex) => {
    if (BigInt(hex) >= Fr.ORDER) throw badArguments('scalar not canonical')
    const scalar = new mcl.Fr()
    scalar.setStr(hex.slice(2), 16)
    return scalar
  }

  /** e(commitment - y + z proof, 1) = e(proof, tau), so that both points of G2 are known beforehand. */
  return (commitment: Hex, z: Hex, y: Hex, proof: Hex): boolean => {
    const opening = pointFrom(proof)
    const value = mcl.sub(pointFrom(commitment), mcl.mul(one, scalarFrom(y)))
    const left = mcl.add(value, mcl.mul(opening, scalarFrom(z)))
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
  verifier ??= createVerifier(await loadMcl())
  return ethereumJsPrecompile(input.common, 0x0a)({ ...input, common: withVerifier(input.common, verifier) })
}
