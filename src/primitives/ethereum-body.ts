import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { encodeHeader, type Header, readHeader } from './header.ts'
import { encodeRlp, encodeRlpList, type RlpItem, uintItem } from './rlp/rlp.ts'
import { type RlpCursor, readWholeList } from './rlp/rlp-cursor.ts'

/** Ether withdrawn from a validator's stake, credited by the block (EIP-4895). */
export interface Withdrawal {
  readonly index: bigint
  readonly validatorIndex: bigint
  readonly address: Hex
  readonly amountGwei: bigint
}

/** Body of a block with Ethereum's rules besides its transactions, in place of proof headers and evidence. */
export interface EthereumBody {
  /** Headers of uncle blocks, which proof of work rewards too. */
  readonly uncles: readonly Header[]
  /** undefined before Shanghai. */
  readonly withdrawals: readonly Withdrawal[] | undefined
  /** Sum of difficulties from genesis to this block; not part of the block's own bytes. */
  readonly totalDifficulty: bigint
}

export const withdrawalItem = ({ index, validatorIndex, address, amountGwei }: Withdrawal): RlpItem => [
  uintItem(index),
  uintItem(validatorIndex),
  hexToBytes(address),
  uintItem(amountGwei),
]

/** Last items of an encoded block: uncles, and withdrawals from Shanghai on. */
export const encodeEthereumBodyItems = ({
  uncles,
  withdrawals,
}: Pick<EthereumBody, 'uncles' | 'withdrawals'>): readonly Uint8Array[] => {
  const parts = [encodeRlpList(uncles.map(encodeHeader))]
  if (withdrawals !== undefined) parts.push(encodeRlp(withdrawals.map(withdrawalItem)))
  return parts
}

/** Reads them at the cursor, to the end of their list. Throws RLP_INVALID or HEADER_MALFORMED. */
export const readEthereumBodyItems = (cursor: RlpCursor): Pick<EthereumBody, 'uncles' | 'withdrawals'> => ({
  uncles: cursor.items(readHeader),
  withdrawals: cursor.hasMore() ? cursor.items(readWithdrawal) : undefined,
})

const readWithdrawal = (cursor: RlpCursor): Withdrawal =>
  cursor.list(() => ({
    index: cursor.uint(8),
    validatorIndex: cursor.uint(8),
    address: cursor.hex(20),
    amountGwei: cursor.uint(8),
  }))

/** Stored form: RLP of [total difficulty, uncles, withdrawals if any]. */
export const encodeEthereumBody = (body: EthereumBody): Uint8Array =>
  encodeRlpList([encodeRlp(uintItem(body.totalDifficulty)), ...encodeEthereumBodyItems(body)])

export const decodeEthereumBody = (bytes: Uint8Array): EthereumBody =>
  readWholeList(bytes, cursor => ({ totalDifficulty: cursor.uint(32), ...readEthereumBodyItems(cursor) }))
