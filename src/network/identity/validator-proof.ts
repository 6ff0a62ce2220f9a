import { hexToBytes } from '@tandem/base/bytes.ts'
import { keccak256 } from '../../crypto/hash.ts'
import { isLowS, recoverAddress } from '../../crypto/signature.ts'
import type { ValidatorSigner } from '../../primitives/consensus/vote.ts'
import { encodeRlp, uintItem } from '../../primitives/rlp/rlp.ts'
import { type ChainDomain, nodeIdItem, type ValidatorProof } from '../messages/control-messages.ts'
import { asciiBytes } from '../wire/payload-codec.ts'

/** Three purposes, three domains: no digest can be one of consensus, whose domain tag differs. */
const CHANNEL = 'tandem-channel/1'
const NODE = 'tandem-node/1'
const RELAY = 'tandem-relay/1'

/** Purpose of a proof: the handshake of one connection, the number of the block near which the node relays, or null: the node at all. */
type ProofPurpose = Uint8Array | number | null

/**
 * keccak256(RLP[tag, chain id, genesis hash, node id, purpose]). The hash of one connection's handshake no other connection has, so a proof
 * cannot be relayed; with the node id it cannot be reflected either. Without a purpose it is a hint in peer records.
 */
const digestOf = ({ chainId, genesisHash }: ChainDomain, nodeId: string, purpose: ProofPurpose): Uint8Array => {
  const [tag, items] =
    typeof purpose === 'number' ? [RELAY, [uintItem(purpose)]] : purpose === null ? [NODE, []] : [CHANNEL, [purpose]]
  const chain = [uintItem(chainId), hexToBytes(genesisHash)]
  return keccak256(encodeRlp([asciiBytes(tag), ...chain, nodeIdItem(nodeId), ...items]))
}

export const proveValidator = (
  signer: ValidatorSigner,
  domain: ChainDomain,
  nodeId: string,
  purpose: ProofPurpose,
): ValidatorProof => ({ address: signer.address, signature: signer.sign(digestOf(domain, nodeId, purpose)) })

export const isValidProof = (
  { address, signature }: ValidatorProof,
  domain: ChainDomain,
  nodeId: string,
  purpose: ProofPurpose,
): boolean =>
  isLowS(signature.subarray(32, 64)) && recoverAddress(digestOf(domain, nodeId, purpose), signature) === address
