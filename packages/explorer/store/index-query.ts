import type { Hex } from '@tandem/base/bytes.ts'
import type { TokenStandard, TransactionKind } from './records.ts'

/** Sort key of the last item of the previous page. */
export type PageKey = readonly (number | string)[]

/** Page of a list: after a key, or after a number of items. */
export interface PageRequest {
  readonly limit: number
  readonly offset: number
  readonly after: PageKey | null
  /** Oldest first, in lists that are ordered by block. */
  readonly ascending?: boolean
}

export interface Page<T> {
  readonly items: readonly T[]
  /** Key of the last item, for the next page; null at the end. */
  readonly next: PageKey | null
}

/** Blocks that a list is limited to; both ends included. */
export interface ListRange {
  readonly fromBlock?: number
  readonly toBlock?: number
}

export interface InternalFilter extends ListRange {
  /** Sender or recipient. */
  readonly party?: Hex
}

export interface TransactionFilter extends ListRange {
  readonly kind?: TransactionKind
  readonly from?: Hex
  readonly to?: Hex
  /** Sender, recipient or contract created. */
  readonly party?: Hex
}

export interface TransferFilter extends ListRange {
  readonly token?: Hex
  readonly party?: Hex
  readonly standard?: TokenStandard
}

export interface AddressLabel {
  readonly address: Hex
  readonly name: string
}

/** Result of the search over tokens and labels. */
export interface SearchRow {
  readonly address: Hex
  readonly kind: 'token' | 'label'
}
