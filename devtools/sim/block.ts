import { type Hex, ZERO_ADDRESS, ZERO_HASH } from '@tandem/base/bytes.ts'
import { type Block, blockFromParts, hashByteStrings } from '../../src/primitives/block.ts'
import type { Certificate } from '../../src/primitives/consensus/certificate.ts'
import { EXTRA_DATA_VERSION, encodeExtraData } from '../../src/primitives/consensus/extra-data.ts'
import { EMPTY_LIST_HASH, type Header, ZERO_NONCE } from '../../src/primitives/header.ts'
import { transactionsRoot } from '../../src/primitives/roots.ts'

const NO_BLOOM = new Uint8Array(256)
const NO_TRANSACTIONS = transactionsRoot([])

/** Position of a block, and any other header members to set. */
export type EmptyBlockFields = Pick<Header, 'number' | 'parentHash' | 'timestamp'> & Partial<Header>

/** Members of its extra data to set. */
interface EmptyBlockExtra {
  readonly proposer: Hex
  readonly parentCertificate: Certificate | null
  readonly vanity?: Uint8Array
  readonly proofTip?: Hex
  readonly proofHeaders?: readonly Uint8Array[]
}

/** Creates a well-formed block without transactions, for committees that agree on blocks without executing them. */
export const emptyBlock = (fields: EmptyBlockFields, extra: EmptyBlockExtra): Block => {
  const { proofTip = ZERO_HASH, proofHeaders = [] } = extra
  const extraData = encodeExtraData({
    version: EXTRA_DATA_VERSION,
    vanity: extra.vanity ?? new Uint8Array(0),
    proposer: extra.proposer,
    parentCertificate: extra.parentCertificate,
    proofTip,
    proofHeadersHash: proofHeaders.length === 0 ? EMPTY_LIST_HASH : hashByteStrings(proofHeaders),
    evidenceRoot: EMPTY_LIST_HASH,
  })
  const header: Header = {
    sha3Uncles: EMPTY_LIST_HASH,
    miner: ZERO_ADDRESS,
    stateRoot: ZERO_HASH,
    transactionsRoot: NO_TRANSACTIONS,
    receiptsRoot: ZERO_HASH,
    logsBloom: NO_BLOOM,
    difficulty: 1n,
    gasLimit: 1n,
    gasUsed: 0n,
    mixHash: ZERO_HASH,
    nonce: ZERO_NONCE,
    baseFeePerGas: 1n,
    ...fields,
    extraData,
  }
  return blockFromParts(header, { transactions: [], proofHeaders, evidence: [] })
}
