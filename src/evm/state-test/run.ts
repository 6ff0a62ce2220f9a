import type { EvmFork } from '../../config/forks.ts'
import { keccak256Hex } from '../../crypto/hash.ts'
import { encodeLogs, type Log } from '../../primitives/log.ts'
import type { Transaction } from '../../primitives/transaction.ts'
import { type Account, EMPTY_ROOT } from '../../state/account.ts'
import { Journal } from '../../state/journal.ts'
import type { StateReader } from '../../state/reader.ts'
import { packChanges } from '../../state/seal.ts'
import type { TrieService } from '../../state/trie/service.ts'
import { EMPTY_BYTES, type Hex, hexToBytes, toWord, ZERO_HASH } from '../../util/bytes.ts'
import { isCoded } from '../../util/errors.ts'
import type { BlockEnv } from '../env.ts'
import type { Executor } from '../execution.ts'
import {
  envOf,
  type Fixture,
  type FixtureAccount,
  type FixturePost,
  forkOf,
  isSince,
  transactionOf,
} from './fixture.ts'

/** One line of a state-test command's output. */
export interface StateTestResult {
  readonly name: string
  readonly fork: string
  readonly index: number
  readonly stateRoot?: Hex
  readonly logsHash?: Hex
  /** Why the transaction was refused. */
  readonly txError?: string
  readonly error?: string
  readonly skipped?: true
  readonly reason?: string
  readonly pass: boolean
}

export interface StateTestTools {
  readonly executor: Executor
  /** A trie of its own: each test is applied to the empty root. */
  readonly trie: TrieService
}

const EMPTY_STATE: StateReader = { account: () => undefined, storage: () => ZERO_HASH, code: () => EMPTY_BYTES }

const fill = (journal: Journal, address: Hex, { balance, nonce, code, storage }: FixtureAccount): void => {
  journal.setBalance(address, BigInt(balance))
  journal.setNonce(address, Number(BigInt(nonce)))
  if (code.length > 2) journal.setCode(address, hexToBytes(code))
  for (const [slot, word] of Object.entries(storage))
    journal.setStorage(address, toWord(BigInt(slot)), toWord(BigInt(word)))
}

/** The state a test starts from, its root, and a reader that knows which accounts have storage (EIP-7610 asks). */
interface Start {
  readonly root: Hex
  readonly reader: StateReader
}

const startOf = async ({ trie }: StateTestTools, { pre }: Fixture): Promise<Start> => {
  const journal = new Journal(EMPTY_STATE)
  for (const [address, account] of Object.entries(pre)) fill(journal, address.toLowerCase() as Hex, account)
  const { root, storageRoots } = await trie.apply(EMPTY_ROOT, packChanges(journal.changes()))
  const account = (address: Hex): Account | undefined => {
    const found = journal.account(address)
    return found && { ...found, storageRoot: storageRoots.get(address) ?? EMPTY_ROOT }
  }
  const reader = {
    account,
    storage: (address: Hex, slot: Hex) => journal.storage(address, slot),
    code: (address: Hex) => journal.code(address),
  }
  return { root, reader }
}

interface Outcome {
  readonly journal: Journal
  readonly logs: readonly Log[]
  readonly txError?: string
}

/** The entry's transaction; undefined and why, where its fields fit no encoding. */
const readTransaction = (fixture: Fixture, post: FixturePost, fork: EvmFork): Transaction | string => {
  try {
    return transactionOf(fixture, post, fork)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** A refused transaction leaves the state as it was; before EIP-158 the coinbase is there in any case. */
const refused = ({ reader }: Start, env: BlockEnv, fork: EvmFork, txError: string): Outcome => {
  const journal = new Journal(reader)
  if (!isSince(fork, 'spuriousDragon')) journal.addBalance(env.miner, 0n)
  return { journal, logs: [], txError }
}

const apply = async (
  { executor }: StateTestTools,
  start: Start,
  fixture: Fixture,
  post: FixturePost,
  fork: EvmFork,
): Promise<Outcome> => {
  const env = envOf(fixture, fork)
  const tx = readTransaction(fixture, post, fork)
  if (typeof tx === 'string') return refused(start, env, fork, tx)
  const journal = new Journal(start.reader)
  try {
    const { receipts } = await executor.execute(journal, env, [tx])
    return { journal, logs: receipts[0]?.logs ?? [] }
  } catch (error) {
    if (!isCoded(error)) throw error
    return refused(start, env, fork, error.message)
  }
}

const runEntry = async (tools: StateTestTools, fixture: Fixture, post: FixturePost, fork: EvmFork) => {
  if (fixture.transaction.maxFeePerBlobGas !== undefined) {
    return { skipped: true as const, reason: 'blob transactions are not part of this chain', pass: false }
  }
  const start = await startOf(tools, fixture)
  const { journal, logs, txError } = await apply(tools, start, fixture, post, fork)
  const { root } = await tools.trie.apply(start.root, packChanges(journal.changes()))
  const logsHash = keccak256Hex(encodeLogs(logs))
  const pass = root === post.hash.toLowerCase() && logsHash === post.logs.toLowerCase()
  return { stateRoot: root, logsHash, pass, ...(txError !== undefined && { txError }) }
}

/** Runs every entry of every test of a parsed file; `forks` limits them to these names. */
export async function* runStateTests(
  tools: StateTestTools,
  file: Readonly<Record<string, Fixture>>,
  forks?: ReadonlySet<string>,
): AsyncGenerator<StateTestResult> {
  for (const [name, fixture] of Object.entries(file)) {
    for (const [forkName, posts] of Object.entries(fixture.post ?? {})) {
      if (forks?.has(forkName) === false) continue
      const fork = forkOf(forkName)
      for (const [index, post] of posts.entries()) {
        const entry = { name, fork: forkName, index }
        if (fork === undefined) yield { ...entry, skipped: true, reason: 'unknown fork', pass: false }
        else {
          try {
            yield { ...entry, ...(await runEntry(tools, fixture, post, fork)) }
          } catch (error) {
            yield { ...entry, error: String(error), pass: false }
          }
        }
      }
    }
  }
}
