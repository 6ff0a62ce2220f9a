import { hexToBytes } from '@tandem/base/bytes.ts'
import { keccak256 } from '../../crypto/hash.ts'
import { isLowS, recoverAddress } from '../../crypto/signature.ts'
import type { ValidatorSigner } from '../../primitives/consensus/vote.ts'
import { encodeRlp, uintItem } from '../../primitives/rlp/rlp.ts'
import type { ChainDomain } from '../wire/control.ts'
import { nodeIdItem, type ValidatorProof } from '../wire/control.ts'
import { asciiBytes } from '../wire/payload-codec.ts'

/** Two purposes, two domains: neither digest can be one of consensus, whose domain tag differs. */
const CHANNEL = 'tandem-channel/1'
const NODE = 'tandem-node/1'

/**
 * keccak256(RLP[tag, chain id, genesis hash, node id, channel]). `channel`: the hash of one connection's handshake, which no other connection
 * has, so a proof cannot be relayed; with the node id it cannot be reflected either. Without a channel it states
 * that the node represents the validator at all (a hint in peer records).
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
