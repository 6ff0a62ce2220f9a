import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { malformed } from '../rlp/malformed.ts'
import { encodeRlp, uintItem } from '../rlp/rlp.ts'
import { RlpCursor } from '../rlp/rlp-cursor.ts'

/** In the order of the WebAssembly engine's numbers (evm/engines/wasm/assembly/logs.ts). */
export const INTERNAL_KINDS = ['call', 'create', 'selfdestruct'] as const
type InternalKind = (typeof INTERNAL_KINDS)[number]

/** Wei that code moved below the transaction's own message, or a contract that code created (then also without wei). */
export interface InternalTransfer {
  readonly kind: InternalKind
  readonly from: Hex
  /** Recipient, contract created, or beneficiary of a self-destruct. */
  readonly to: Hex
  readonly value: bigint
}

export interface BlockInternalTransfer extends InternalTransfer {
  readonly transactionIndex: number
}

/** Encodes the internal transfers of one block: a list of [transaction index, kind, from, to, value]. */
export const encodeInternalTransfers = (transfers: readonly BlockInternalTransfer[]): Uint8Array =>
  encodeRlp(
    transfers.map(({ transactionIndex, kind, from, to, value }) => [
      uintItem(transactionIndex),
      uintItem(INTERNAL_KINDS.indexOf(kind)),
      hexToBytes(from),
      hexToBytes(to),
      uintItem(value),
    ]),
  )

/** Decodes them one after the other. Throws INTERNAL_TRANSFERS_MALFORMED or RLP_INVALID. */
export function* readInternalTransfers(bytes: Uint8Array): Generator<BlockInternalTransfer> {
  const cursor = new RlpCursor(bytes)
  const outer = cursor.openList()
  while (cursor.hasMore()) yield cursor.list(readTransfer)
  cursor.closeList(outer)
  cursor.finish()
}

const readTransfer = (cursor: RlpCursor): BlockInternalTransfer => {
  const transactionIndex = cursor.safeUint()
  const kind = INTERNAL_KINDS[cursor.safeUint()]
  if (kind === undefined) throw malformed('INTERNAL_TRANSFERS_MALFORMED', 'unknown kind')
  return { transactionIndex, kind, from: cursor.hex(20), to: cursor.hex(20), value: cursor.uint(32) }
}
