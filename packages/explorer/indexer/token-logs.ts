import { asBuffer, type Hex } from '@tandem/base/bytes.ts'
import type { Log } from '../chain/types.ts'
import { EXPLORER_LIMITS } from '../limits.ts'
import type { TransferRecord } from '../store/records.ts'

/** keccak of Transfer(address,address,uint256), of ERC-20 and ERC-721. */
export const TRANSFER_TOPIC: Hex = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
/** keccak of TransferSingle(address,address,address,uint256,uint256). */
const SINGLE_TOPIC: Hex = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62'
/** keccak of TransferBatch(address,address,address,uint256[],uint256[]). */
const BATCH_TOPIC: Hex = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb'

const WORD = 32

type Movement = Omit<TransferRecord, 'logIndex' | 'transactionIndex' | 'position' | 'token'>

/**
 * Returns the token transfers of a log, none for other logs. Contracts may write any log: a count of topics or bytes that the
 * standards do not have, or an address with more than 20 bytes, is no transfer.
 */
export const transfersFromLogs = ({ topics, data }: Log): readonly Movement[] => {
  switch (topics[0]) {
    case TRANSFER_TOPIC:
      return transfer(topics, data)
    case SINGLE_TOPIC:
      return single(topics, data)
    case BATCH_TOPIC:
      return batch(topics, data)
    default:
      return NONE
  }
}

const NONE: readonly Movement[] = []

const transfer = (topics: readonly Hex[], data: Uint8Array): readonly Movement[] => {
  const [from, to] = [addressOfTopic(topics[1]), addressOfTopic(topics[2])]
  if (from === undefined || to === undefined) return NONE
  if (topics.length === 3 && data.byteLength === WORD)
    return [{ standard: 'ERC-20', from, to, amount: wordAt(data, 0), tokenId: null }]
  const id = topics[3]
  if (id !== undefined && data.byteLength === 0)
    return [{ standard: 'ERC-721', from, to, amount: 1n, tokenId: BigInt(id) }]
  return NONE
}

const single = (topics: readonly Hex[], data: Uint8Array): readonly Movement[] => {
  const [from, to] = [addressOfTopic(topics[2]), addressOfTopic(topics[3])]
  if (from === undefined || to === undefined || data.byteLength !== 2 * WORD) return NONE
  return [{ standard: 'ERC-1155', from, to, amount: wordAt(data, WORD), tokenId: wordAt(data, 0) }]
}

const batch = (topics: readonly Hex[], data: Uint8Array): readonly Movement[] => {
  const [from, to] = [addressOfTopic(topics[2]), addressOfTopic(topics[3])]
  const [ids, amounts] = [arrayAt(data, 0), arrayAt(data, WORD)]
  if (from === undefined || to === undefined || ids === undefined || amounts === undefined) return NONE
  if (ids.count !== amounts.count) return NONE
  return Array.from({ length: ids.count }, (_, index) => ({
    standard: 'ERC-1155',
    from,
    to,
    amount: wordAt(data, amounts.start + index * WORD),
    tokenId: wordAt(data, ids.start + index * WORD),
  }))
}

/** Position and length of the dynamic array whose offset is at `head`; undefined when the data is too short. */
const arrayAt = (data: Uint8Array, head: number): { readonly start: number; readonly count: number } | undefined => {
  if (data.byteLength < 4 * WORD) return undefined
  const offset = smallAt(data, head)
  if (offset === undefined || offset + WORD > data.byteLength) return undefined
  const count = smallAt(data, offset)
  const start = offset + WORD
  if (count === undefined || count > EXPLORER_LIMITS.index.batchEntries) return undefined
  return start + count * WORD <= data.byteLength ? { start, count } : undefined
}

/** A word that counts bytes or items; undefined beyond 32 bits. */
const smallAt = (data: Uint8Array, at: number): number | undefined => {
  const word = wordAt(data, at)
  return word < 2n ** 32n ? Number(word) : undefined
}

const wordAt = (data: Uint8Array, at: number): bigint => BigInt(`0x${asBuffer(data).hexSlice(at, at + WORD)}`)

const PADDING = `0x${'00'.repeat(12)}`

const addressOfTopic = (topic: Hex | undefined): Hex | undefined =>
  topic?.startsWith(PADDING) ? `0x${topic.slice(PADDING.length)}` : undefined
