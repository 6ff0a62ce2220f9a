import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { bytesEqual, bytesToHex, EMPTY_BYTES, type Hex, ZERO_HASH } from '@tandem/base/bytes.ts'
import { CodedError, isCoded } from '@tandem/base/errors.ts'
import { makeFolder } from '@tandem/base/fs/make-folder.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { encodeReceipt, type Receipt } from '../../../primitives/receipt/receipt.ts'
import type { Transaction } from '../../../primitives/transaction/transaction.ts'
import type { Account } from '../../../state/account.ts'
import { Journal } from '../../../state/journal/journal.ts'
import type { StateReader } from '../../../state/state-reader.ts'
import type { StateChanges } from '../../../state/update/state-update.ts'
import { checkAborted } from '../../block/pacer.ts'
import type { BlockEnv } from '../../block-env.ts'
import type { BlockExecution, Credit, Executor, ShadowMismatchError } from '../../executor-types.ts'

interface ShadowOptions {
  readonly logger: Logger
  readonly directory: string
}

const attempt = async (journal: Journal, work: Promise<BlockExecution>): Promise<BlockOutcome> => {
  try {
    return { execution: await work, changes: journal.changes() }
  } catch (error) {
    if (isCoded(error)) return { refused: error }
    throw error
  }
}

/**
 * Executes every block twice, by `fast` and by the oracle, each on its own journal over the one passed in; then once more by
 * `fast` on that one. The first difference is written to a file and thrown as SHADOW_MISMATCH: the node must stop.
 */
export const createShadowExecutor = (fast: Executor, { logger, directory }: ShadowOptions): Executor => {
  const execute: Executor['execute'] = async (journal, env, transactions, credits = [], bounds = {}) => {
    const { runOracle } = await import('./block-vm.ts')
    const base = new RecordingReader(journal)
    const oracleJournal = new Journal(base)
    const oracle = await attempt(oracleJournal, runOracle(oracleJournal, env, transactions, credits, bounds))
    const fastJournal = new Journal(base)
    const ours = await attempt(fastJournal, fast.execute(fastJournal, env, transactions, credits, bounds))
    checkAborted(bounds.signal)
    const what = firstDifference(ours, oracle)
    if (what !== undefined) {
      const file = await writeReproduction(directory, { what, env, transactions, credits, base, ours, oracle }, logger)
      logger.error({ block: env.number, what, file }, 'shadow execution differs')
      throw new CodedError<ShadowMismatchError>({ code: 'SHADOW_MISMATCH', file, what })
    }
    return fast.execute(journal, env, transactions, credits, bounds)
  }

  return {
    async build(journal, env, source, budget, credits) {
      const built = await fast.build(new Journal(journal), env, source, budget, credits)
      const { signal } = budget
      const executed = await execute(journal, env, built.transactions, credits, signal && { signal })
      return { ...executed, dropped: built.dropped }
    },
    execute,
    warmUp: () => fast.warmUp(),
  }
}

/** Records the state that was read: enough to execute the same block again. */
class RecordingReader implements StateReader {
  readonly #inner: StateReader
  readonly accounts = new Map<Hex, Account | undefined>()
  readonly slots = new Map<Hex, Map<Hex, Hex>>()
  readonly codes = new Map<Hex, Uint8Array>()

  constructor(inner: StateReader) {
    this.#inner = inner
  }

  account(address: Hex): Account | undefined {
    const account = this.#inner.account(address)
    this.accounts.set(address, account)
    return account
  }

  storage(address: Hex, slot: Hex): Hex {
    const word = this.#inner.storage(address, slot)
    let slots = this.slots.get(address)
    if (slots === undefined) {
      slots = new Map()
      this.slots.set(address, slots)
    }
    slots.set(slot, word)
    return word
  }

  code(address: Hex): Uint8Array {
    const code = this.#inner.code(address)
    this.codes.set(address, code)
    return code
  }

  /** Format of a genesis file: address -> balance, nonce, code, storage. */
  toAlloc(): Record<Hex, object> {
    const alloc: Record<Hex, object> = {}
    for (const [address, account] of this.accounts) {
      if (account === undefined) continue
      alloc[address] = {
        balance: account.balance,
        nonce: account.nonce,
        code: bytesToHex(this.codes.get(address) ?? EMPTY_BYTES),
        storage: Object.fromEntries(this.slots.get(address) ?? []),
      }
    }
    return alloc
  }
}

interface Mismatch {
  readonly what: string
  readonly env: BlockEnv
  readonly transactions: readonly Transaction[]
  readonly credits: readonly Credit[]
  readonly base: RecordingReader
  readonly ours: BlockOutcome
  readonly oracle: BlockOutcome
}

const outcomeToJson = (outcome: BlockOutcome): object => {
  if (outcome.refused !== undefined) return { refused: outcome.refused.detail }
  const { execution, changes } = outcome
  return {
    gasUsed: execution.gasUsed,
    receipts: execution.receipts,
    fees: execution.fees,
    accounts: Object.fromEntries([...changes.accounts].map(([address, { after }]) => [address, after ?? null])),
    storage: Object.fromEntries(
      [...changes.storage].map(([address, slots]) => [
        address,
        Object.fromEntries([...slots].map(([slot, { after }]) => [slot, after])),
      ]),
    ),
  }
}

const envToJson = (env: BlockEnv): object => {
  const recent = Array.from({ length: Math.min(256, env.number) }, (_, i) => env.number - 1 - i)
  return { ...env, blockHash: undefined, blockHashes: Object.fromEntries(recent.map(n => [n, env.blockHash(n)])) }
}

const plain = (_: string, value: unknown): unknown => {
  if (typeof value === 'bigint') return value.toString()
  return value instanceof Uint8Array ? bytesToHex(value) : value
}

/** Writes everything needed to reproduce the difference; returns the file, or null when it could not be written. */
const writeReproduction = async (directory: string, mismatch: Mismatch, logger: Logger): Promise<string | null> => {
  const { what, env, transactions, credits, base, ours, oracle } = mismatch
  const file = join(directory, `block-${env.number}-${Date.now()}.json`)
  const content = {
    what,
    env: envToJson(env),
    alloc: base.toAlloc(),
    transactions: transactions.map(({ from, raw }) => ({ from, raw })),
    credits,
    ours: outcomeToJson(ours),
    oracle: outcomeToJson(oracle),
  }
  try {
    makeFolder(directory, 0o777)
    await writeFile(file, `${JSON.stringify(content, plain, 2)}\n`)
    return file
  } catch (err) {
    logger.error({ err, file }, 'reproduction file not written')
    return null
  }
}

type BlockOutcome =
  | { readonly execution: BlockExecution; readonly changes: StateChanges; readonly refused?: undefined }
  | { readonly refused: CodedError }

type Difference = string | undefined

/** Returns the first difference between this node's execution (a) and the oracle's (b); undefined: none. */
const firstDifference = (a: BlockOutcome, b: BlockOutcome): Difference => {
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
