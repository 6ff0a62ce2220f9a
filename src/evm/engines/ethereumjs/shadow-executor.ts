import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { bytesEqual, bytesToHex, EMPTY_BYTES, type Hex } from '@tandem/base/bytes.ts'
import { CodedError, isCoded } from '@tandem/base/errors.ts'
import { makeFolder } from '@tandem/base/fs/make-folder.ts'
import { getOrMake } from '@tandem/base/get-or-make.ts'
import type { Logger } from '@tandem/base/logger.ts'
import type { Transaction } from '../../../primitives/transaction/transaction.ts'
import type { Account } from '../../../state/account.ts'
import { Journal } from '../../../state/journal/journal.ts'
import type { StateReader } from '../../../state/state-reader.ts'
import type { StateChanges } from '../../../state/update/state-update.ts'
import type { BlockEnv } from '../../block-env.ts'
import type { BlockExecution, Credit, Executor, ShadowMismatchError } from '../../executor-types.ts'
import { checkAborted } from '../../slice-clock.ts'

const attempt = async (journal: Journal, work: Promise<BlockExecution>): Promise<BlockOutcome> => {
  try {
    return { execution: await work, changes: journal.changes() }
  } catch (error) {
    if (isCoded(error)) return { refused: error }
    throw error
  }
}

/**
 * Executes every block twice, by `own` and by the oracle, each on its own journal over the one passed in; then once more by
 * `own` on that one. The first difference is written to a file and thrown as SHADOW_MISMATCH: the node must stop.
 */
export const createShadowExecutor = (own: Executor, logger: Logger, directory: string): Executor => {
  const execute: Executor['execute'] = async (journal, env, transactions, credits = [], bounds = {}) => {
    const { runOracle } = await import('./block-vm.ts')
    const base = new RecordingReader(journal)
    const oracleJournal = new Journal(base)
    const oracle = await attempt(oracleJournal, runOracle(oracleJournal, env, transactions, credits, bounds))
    const ownJournal = new Journal(base)
    const ours = await attempt(ownJournal, own.execute(ownJournal, env, transactions, credits, bounds))
    checkAborted(bounds.signal)
    const what = firstDifference(ours, oracle)
    if (what !== undefined) {
      const file = await writeReproduction(directory, { what, env, transactions, credits, base, ours, oracle }, logger)
      logger.error({ block: env.number, what, file }, 'shadow execution differs')
      throw new CodedError<ShadowMismatchError>({ code: 'SHADOW_MISMATCH', file, what })
    }
    return own.execute(journal, env, transactions, credits, bounds)
  }

  return {
    async build(journal, env, source, budget, credits) {
      const built = await own.build(new Journal(journal), env, source, budget, credits)
      const { signal } = budget
      const executed = await execute(journal, env, built.transactions, credits, signal && { signal })
      return { ...executed, dropped: built.dropped }
    },
    execute,
    warmUp: () => own.warmUp(),
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
    getOrMake(this.slots, address, () => new Map<Hex, Hex>()).set(slot, word)
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
    receipts: execution.receipts,
    gasUsed: execution.gasUsed,
    logsBloom: execution.logsBloom,
    fees: execution.fees,
    accounts: Object.fromEntries([...changes.accounts].map(([address, { after }]) => [address, after ?? null])),
    storage: Object.fromEntries(
      [...changes.storage].map(([address, slots]) => [
        address,
        Object.fromEntries([...slots].map(([slot, { after }]) => [slot, after])),
      ]),
    ),
    code: Object.fromEntries(changes.code),
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

/** Returns the first difference between this node's execution (a) and the oracle's (b); undefined: none. */
const firstDifference = (a: BlockOutcome, b: BlockOutcome): string | undefined =>
  a.refused !== undefined || b.refused !== undefined
    ? difference(refusedIndex(a), refusedIndex(b), 'index of the refused transaction')
    : difference(outcomeToJson(a), outcomeToJson(b))

const refusedIndex = ({ refused }: BlockOutcome): unknown =>
  refused !== undefined && 'index' in refused.detail ? refused.detail.index : undefined

const difference = (a: unknown, b: unknown, path = ''): string | undefined => {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return bytesEqual(a, b) ? undefined : path
  const [ours, theirs] = [membersOf(a), membersOf(b)]
  if (ours === undefined && theirs === undefined) return a === b ? undefined : `${path}: ${a} against ${b}`
  for (const key of Object.keys({ ...ours, ...theirs })) {
    const found = difference(ours?.[key], theirs?.[key], path === '' ? key : `${path}.${key}`)
    if (found !== undefined) return found
  }
  return undefined
}

const membersOf = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === 'object' && value !== null ? { ...value } : undefined
