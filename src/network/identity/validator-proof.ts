import { keccak256 } from '../../crypto/hash.ts'
import { isLowS, recoverAddress } from '../../crypto/signature.ts'
import type { ValidatorSigner } from '../../primitives/consensus/signer.ts'
import { encodeRlp, uintItem } from '../../primitives/rlp.ts'
import { type Hex, hexToBytes } from '../../util/bytes.ts'
import { nodeIdItem, type ValidatorProof } from '../wire/control.ts'
import { asciiBytes } from '../wire/payload-codec.ts'

/** What binds signatures to one chain. */
export interface ChainDomain {
  readonly chainId: number
  readonly genesisHash: Hex
}

/** Two purposes, two domains: none of these digests can be one of consensus, which begins with another word. */
const CHANNEL = 'tandem-channel/1'
const NODE = 'tandem-node/1'

/**
 * keccak256(RLP[word, chain id, genesis hash, node id, channel]). `channel`: 32 bytes that both ends of one TLS connection and nobody
 * else can derive (RFC 8446 7.5), so a proof cannot be passed on; with the node id it cannot be sent back either. Without a
 * channel it says that the node speaks for the validator at all (a hint in peer records).
 */
const digestOf = ({ chainId, genesisHash }: ChainDomain, nodeId: string, channel: Uint8Array | null): Uint8Array =>
  keccak256(
    encodeRlp([
      asciiBytes(channel === null ? NODE : CHANNEL),
      uintItem(chainId),
      hexToBytes(genesisHash),
      nodeIdItem(nodeId),
      ...(channel === null ? [] : [channel]),
    ]),
  )

export const proveValidator = (
  signer: ValidatorSigner,
  domain: ChainDomain,
  nodeId: string,
  channel: Uint8Array | null,
): ValidatorProof => ({ address: signer.address, signature: signer.sign(digestOf(domain, nodeId, channel)) })

export const isValidProof = (
  { address, signature }: ValidatorProof,
  domain: ChainDomain,
  nodeId: string,
  channel: Uint8Array | null,
): boolean =>
  isLowS(signature.subarray(32, 64)) && recoverAddress(digestOf(domain, nodeId, channel), signature) === address
