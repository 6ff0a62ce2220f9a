import { bytesEqual, type Hex } from '@tandem/base/bytes.ts'
import type { RecoverAddress } from '../../src/consensus/certificate.ts'
import { keccak256 } from '../../src/crypto/hash.ts'
import { addressFromPrivateKey, recoverAddress, sign } from '../../src/crypto/signature.ts'
import type { ValidatorSigner } from '../../src/primitives/consensus/vote.ts'

/** One key per node, and the recovery of a signer. */
export interface Keys {
  readonly addresses: readonly Hex[]
  readonly signers: readonly ValidatorSigner[]
  readonly recover: RecoverAddress
}

const SIGNATURE_BYTES = 65
/** The last two bytes of s: a node's number keeps s in the lower half. */
const NODE_AT = 62

/** Cheap stub signatures: the digest beside the signer's number. They can only be made through a node's signer. */
export const stubKeys = (size: number): Keys => {
  const addresses = Array.from({ length: size }, (_, node): Hex => `0x${(node + 1).toString(16).padStart(40, '0')}`)
  const signers = addresses.map((address, node) => ({ address, sign: (digest: Uint8Array) => stub(digest, node) }))
  const recover: RecoverAddress = (digest, signature) =>
    bytesEqual(digest, signature.subarray(0, 32)) ? addresses[nodeOf(signature)] : undefined
  return { addresses, signers, recover }
}

const stub = (digest: Uint8Array, node: number): Uint8Array => {
  const signature = new Uint8Array(SIGNATURE_BYTES)
  signature.set(digest)
  signature[NODE_AT] = node >> 8
  signature[NODE_AT + 1] = node & 0xff
  return signature
}

const nodeOf = (signature: Uint8Array): number =>
  ((signature[NODE_AT] as number) << 8) | (signature[NODE_AT + 1] as number)

/** secp256k1, as on a real chain. */
export const realKeys = (size: number): Keys => {
  const signers = Array.from({ length: size }, (_, node) => {
    const key = keccak256(new TextEncoder().encode(`simulated validator ${node}`))
    return { address: addressFromPrivateKey(key), sign: (digest: Uint8Array) => sign(digest, key) }
  })
  return { addresses: signers.map(({ address }) => address), signers, recover: recoverAddress }
}
