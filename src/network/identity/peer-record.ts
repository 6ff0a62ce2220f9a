import { sign, verify } from 'node:crypto'
import { isIP } from 'node:net'
import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import type { ValidatorSigner } from '../../primitives/consensus/vote.ts'
import { encodeRlp, type RlpItem, uintItem } from '../../primitives/rlp/rlp.ts'
import type { PeerRecord } from '../core/address-book.ts'
import {
  type ChainDomain,
  nodeIdItem,
  proofItem,
  readNodeId,
  readProof,
  type ValidatorProof,
} from '../messages/control-messages.ts'
import { type NodeKey, publicKeyOf } from '../transport/node-key.ts'
import { asciiBytes, asciiText, fixedBytes, listCodec, malformedMessage } from '../wire/payload-codec.ts'
import { isValidProof, proveValidator } from './validator-proof.ts'

const WORD = 'tandem-record/1'
const SIGNATURE_BYTES = 64
const HOST_BYTES = 45

interface SignedRecord extends Omit<PeerRecord, 'bytes' | 'validator'> {
  readonly proof: ValidatorProof | null
  /** Ed25519, by the node's key. */
  readonly signature: Uint8Array
}

const signedItems = ({ sequence, id, host, port, proof }: Omit<SignedRecord, 'signature'>): readonly RlpItem[] => [
  uintItem(sequence),
  nodeIdItem(id),
  asciiBytes(host),
  uintItem(port),
  proofItem(proof),
]

/** [sequence, node id, host, port, [validator, signature] or [], signature] */
export const recordCodec = listCodec<SignedRecord>(
  record => encodeRlp([...signedItems(record), record.signature]),
  cursor => {
    const sequence = cursor.safeUint()
    const id = readNodeId(cursor)
    const host = asciiText(cursor, HOST_BYTES)
    const port = cursor.safeUint()
    // IP addresses only: an unverified record must not cause DNS queries of this node.
    if (isIP(host) === 0 || host.includes('%')) throw malformedMessage('a record names an IP address')
    if (port < 1 || port > 0xffff) throw malformedMessage('no such port')
    return { sequence, id, host, port, proof: readProof(cursor), signature: fixedBytes(cursor, SIGNATURE_BYTES) }
  },
)

/** Bytes that the node's key signs: the record with the chain, so that records of other networks are invalid here. */
const signedBytes = ({ chainId, genesisHash }: ChainDomain, record: Omit<SignedRecord, 'signature'>): Uint8Array =>
  encodeRlp([asciiBytes(WORD), uintItem(chainId), hexToBytes(genesisHash), ...signedItems(record)])

interface PeerRecordParams {
  readonly domain: ChainDomain
  readonly key: NodeKey
  readonly sequence: number
  readonly host: string
  readonly port: number
  /** Names the validator in the record, so that other members find it; null: there is none. */
  readonly signer: ValidatorSigner | null
}

export const signPeerRecord = ({ domain, key, sequence, host, port, signer }: PeerRecordParams): PeerRecord => {
  const proof = signer && proveValidator(signer, domain, key.id, null)
  const unsigned = { sequence, id: key.id, host, port, proof }
  const signature = new Uint8Array(sign(null, signedBytes(domain, unsigned), key.privateKey))
  return {
    sequence,
    id: key.id,
    host,
    port,
    validator: signer?.address ?? null,
    bytes: recordCodec.encode({ ...unsigned, signature }),
  }
}

/** Decodes a foreign record; `isNews` comes before signatures. `false`: one is invalid. Throws MESSAGE_MALFORMED. */
export const readPeerRecord = (
  bytes: Uint8Array,
  domain: ChainDomain,
  isNews: (id: string, sequence: number) => boolean,
): PeerRecord | 'old' | 'false' => {
  const { signature, proof, ...record } = recordCodec.decode(bytes)
  if (!isNews(record.id, record.sequence)) return 'old'
  const signed = signedBytes(domain, { ...record, proof })
  if (!isSignedBy(record.id, signed, signature)) return 'false'
  if (proof !== null && !isValidProof(proof, domain, record.id, null)) return 'false'
  return { ...record, validator: proof?.address ?? null, bytes: bytes.slice(0, NETWORK_LIMITS.recordBytes) }
}

/** Some strings of 32 bytes are not a point of the curve. */
const isSignedBy = (id: string, signed: Uint8Array, signature: Uint8Array): boolean => {
  const hex: Hex = `0x${id}`
  try {
    return verify(null, signed, publicKeyOf(hexToBytes(hex)), signature)
  } catch {
    return false
  }
}
