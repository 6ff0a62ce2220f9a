import { bytesEqual, type Hex, ZERO_HASH } from '@tandem/base/bytes.ts'
import type { CodedError } from '@tandem/base/errors.ts'
import { encodeReceipt, type Receipt } from '../../../primitives/receipt/receipt.ts'
import type { Account } from '../../../state/account.ts'
import type { StateChanges } from '../../../state/update/state-update.ts'
import type { BlockExecution } from '../../executor-types.ts'

/** Outcome of one execution of a block. */
export type BlockOutcome =
  | { readonly execution: BlockExecution; readonly changes: StateChanges; readonly refused?: undefined }
  | { readonly refused: CodedError }

type Difference = string | undefined

/** Returns the first difference between this node's execution (a) and the oracle's (b); undefined: none. */
export const firstDifference = (a: BlockOutcome, b: BlockOutcome): Difference => {
  if (a.refused !== undefined || b.refused !== undefined) return refusals(a.refused, b.refused)
  return executions(a.execution, b.execution) ?? states(a.changes, b.changes)
}

const refusedIndex = (error: CodedError | undefined): number | undefined =>
  error !== undefined && 'index' in error.detail && typeof error.detail.index === 'number'
    ? error.detail.index
    : undefined

const refusals = (a: CodedError | undefined, b: CodedError | undefined): Difference => {
  const [ours, theirs] = [refusedIndex(a), refusedIndex(b)]
  return ours === theirs ? undefined : `refused transaction: ${ours ?? 'none'} against ${theirs ?? 'none'}`
}

const executions = (a: BlockExecution, b: BlockExecution): Difference => {
  for (const [index, receipt] of a.receipts.entries()) {
    const difference = receipts(receipt, b.receipts[index] as Receipt)
    if (difference !== undefined) return `transaction ${index}: ${difference}`
  }
  if (a.gasUsed !== b.gasUsed) return `gas used by the block: ${a.gasUsed} against ${b.gasUsed}`
  return bytesEqual(a.logsBloom, b.logsBloom) ? undefined : 'logs bloom of the block'
}

const receipts = (a: Receipt, b: Receipt): Difference => {
  if (a.status !== b.status) return `status: ${a.status} against ${b.status}`
  if (a.gasUsed !== b.gasUsed) return `gas used: ${a.gasUsed} against ${b.gasUsed}`
  if (a.effectiveGasPrice !== b.effectiveGasPrice) return 'effective gas price'
  if (a.contractAddress !== b.contractAddress) return 'contract address'
  if (a.logs.length !== b.logs.length) return `number of logs: ${a.logs.length} against ${b.logs.length}`
  // Covers status, cumulative gas, bloom and logs: equal encodings make equal receipts roots.
  return bytesEqual(encodeReceipt(a), encodeReceipt(b)) ? undefined : 'encoded receipt'
}

const states = (a: StateChanges, b: StateChanges): Difference =>
  firstKey(a.accounts, b.accounts, (address, x, y) => accounts(address, x?.after, y?.after)) ??
  firstKey(a.storage, b.storage, (address, x, y) => slots(address, x, y)) ??
  firstKey(a.code, b.code, hash => (a.code.has(hash) && b.code.has(hash) ? undefined : `new code ${hash}`))

/** Calls `compare` for each key of either map. */
const firstKey = <Value>(
  a: ReadonlyMap<Hex, Value>,
  b: ReadonlyMap<Hex, Value>,
  compare: (key: Hex, a: Value | undefined, b: Value | undefined) => Difference,
): Difference => {
  for (const key of new Set([...a.keys(), ...b.keys()])) {
    const difference = compare(key, a.get(key), b.get(key))
    if (difference !== undefined) return difference
  }
  return undefined
}

const describe = (account: Account | undefined): string =>
  account === undefined ? 'nothing' : `nonce ${account.nonce}, balance ${account.balance}, code ${account.codeHash}`

const accounts = (address: Hex, a: Account | undefined, b: Account | undefined): Difference => {
  const [ours, theirs] = [describe(a), describe(b)]
  return ours === theirs ? undefined : `account ${address}: ${ours} against ${theirs}`
}

type SlotChanges = ReadonlyMap<Hex, { readonly after: Hex }>
const NO_SLOTS: SlotChanges = new Map()

const slots = (address: Hex, a: SlotChanges = NO_SLOTS, b: SlotChanges = NO_SLOTS): Difference =>
  firstKey(a, b, (slot, x, y) =>
    x?.after === y?.after
      ? undefined
      : `slot ${slot} of ${address}: ${x?.after ?? ZERO_HASH} against ${y?.after ?? ZERO_HASH}`,
  )
