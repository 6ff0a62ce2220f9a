import { encodeRlp, uintItem } from '../rlp/rlp.ts'
import { RlpCursor } from '../rlp/rlp-cursor.ts'

/** Cause of a transaction's failure. */
export interface FailedExecution {
  readonly transactionIndex: number
  /** `execution reverted`, or the reason why code stopped. */
  readonly error: string
  /** Start of what the code returned; empty unless it reverted. */
  readonly output: Uint8Array
}

/** Encodes the failed transactions of one block: a list of [transaction index, error, output]. */
export const encodeFailedExecutions = (failed: readonly FailedExecution[]): Uint8Array =>
  encodeRlp(
    failed.map(({ transactionIndex, error, output }) => [
      uintItem(transactionIndex),
      new TextEncoder().encode(error),
      output,
    ]),
  )

/** Decodes them one after the other. Throws RLP_INVALID. */
export function* readFailedExecutions(bytes: Uint8Array): Generator<FailedExecution> {
  const cursor = new RlpCursor(bytes)
  const outer = cursor.openList()
  while (cursor.hasMore()) {
    const inner = cursor.openList()
    const transactionIndex = cursor.safeUint()
    const error = new TextDecoder().decode(cursor.bytes())
    const output = new Uint8Array(cursor.bytes())
    cursor.closeList(inner)
    yield { transactionIndex, error, output }
  }
  cursor.closeList(outer)
  cursor.finish()
}
