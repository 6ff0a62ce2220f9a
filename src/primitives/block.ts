import type { Hex } from '../util/bytes.ts'
import type { Header } from './header.ts'
import type { Transaction } from './transaction.ts'

export interface Block {
  readonly header: Header
  /** keccak256 of the header's RLP. */
  readonly hash: Hex
  readonly transactions: readonly Transaction[]
  /** Encoded proof headers this block makes final (DESIGN 5); empty until the proof chain lives. */
  readonly proofHeaders: readonly Uint8Array[]
  /** Encoded evidence (reference/consensus.md 6). */
  readonly evidence: readonly Uint8Array[]
  /** Length of the block's RLP, bytes. */
  readonly size: number
}
