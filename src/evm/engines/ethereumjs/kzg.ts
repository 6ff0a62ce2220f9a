import { bls12_381 } from '@noble/curves/bls12-381.js'
import { TAU_G2 } from '../precompiles/point-evaluation.ts'

const G1 = bls12_381.G1.Point
const G2 = bls12_381.G2.Point
const { Fp12, Fr } = bls12_381.fields

/** EthereumJS distinguishes bad arguments from a failed proof by this word in the message. */
const badArguments = (why: string, cause?: unknown): Error => new Error(`C_KZG_BADARGS: ${why}`, { cause })

const scalarFrom = (hex: string): bigint => {
  const value = BigInt(hex)
  if (value >= Fr.ORDER) throw badArguments('scalar not canonical')
  return value
}

const pointFrom = (hex: string): InstanceType<typeof G1> => {
  try {
    const point = G1.fromHex(hex.slice(2))
    point.assertValidity()
    return point
  } catch (cause) {
    throw badArguments('not a point of G1', cause)
  }
}

/** Verifies that the polynomial of `commitment` has the value y at z (EIP-4844 point evaluation). */
const verifyProof = (commitment: string, z: string, y: string, proof: string): boolean => {
  const left = pointFrom(commitment).subtract(G1.BASE.multiplyUnsafe(scalarFrom(y)))
  const opening = pointFrom(proof)
  const right = G2.fromHex(TAU_G2).subtract(G2.BASE.multiplyUnsafe(scalarFrom(z)))
  const pairs = [
    { g1: left, g2: G2.BASE.negate() },
    { g1: opening, g2: right },
  ].filter(pair => !pair.g1.is0() && !pair.g2.is0())
  return pairs.length === 0 || Fp12.eql(bls12_381.pairingBatch(pairs), Fp12.ONE)
}

const blobsNotServed = (): never => {
  throw new Error('blobs are not part of this chain')
}

/**
 * The only function of a KZG library that the EVM calls; blobs never reach this node, only hashes of some
 * (docs/design/evm-rules.md#forks-in-force).
 */
export const kzgVerifier = {
  verifyProof,
  blobToKzgCommitment: blobsNotServed,
  computeBlobProof: blobsNotServed,
  verifyBlobProofBatch: blobsNotServed,
  computeCells: blobsNotServed,
  computeCellsAndProofs: blobsNotServed,
  recoverCellsAndProofs: blobsNotServed,
  verifyCellKzgProofBatch: blobsNotServed,
}
