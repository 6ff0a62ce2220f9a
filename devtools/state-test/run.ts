import { assert } from '@tandem/base/assert.ts'
import { EMPTY_BYTES, type Hex, hexToBytes, toWord, ZERO_HASH } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import { uint64FromBigint } from '@tandem/base/uint64.ts'
import { type EvmFork, isForkSince } from '../../src/config/forks.ts'
import { keccak256Hex } from '../../src/crypto/hash.ts'
import type { BlockEnv } from '../../src/evm/block-env.ts'
import type { Executor } from '../../src/evm/executor-types.ts'
import { encodeLogs, type Log } from '../../src/primitives/receipt/log.ts'
import type { Transaction } from '../../src/primitives/transaction/transaction.ts'
import { type Account, EMPTY_ROOT } from '../../src/state/account.ts'
import { Journal } from '../../src/state/journal/journal.ts'
import type { StateReader } from '../../src/state/state-reader.ts'
import type { TrieService } from '../../src/state/trie/trie-service.ts'
import { packChanges } from '../../src/state/update/pack-changes.ts'
import { problemText } from './field-readers.ts'
import { type Fixture, type FixtureAccount, type FixturePost, readFixture } from './fixture.ts'
import { envFromTest, forkFromName } from './fork.ts'
import { transactionFromTest } from './transaction.ts'

/** One line of a state-test command's output. */
export interface StateTestResult {
  readonly name: string
  /** Omitted where the test could not be read. */
  readonly fork?: string
  readonly index?: number
  readonly stateRoot?: Hex
  readonly logsHash?: Hex
  /** Reason why the transaction was refused. */
  readonly txError?: string
  readonly error?: string
  readonly skipped?: true
  readonly reason?: string
  readonly pass: boolean
}

interface StateTestTools {
  readonly executor: Executor
  /** Separate trie: each test is applied to the empty root. */
  readonly trie: TrieService
}

const EMPTY_STATE: StateReader = { account: () => undefined, storage: () => ZERO_HASH, code: () => EMPTY_BYTES }

const fill = (journal: Journal, address: Hex, { balance, nonce, code, storage }: FixtureAccount): void => {
  journal.setBalance(address, BigInt(balance))
  journal.setNonce(address, uint64FromBigint(BigInt(nonce)))
  if (code.length > 2) journal.setCode(address, hexToBytes(code))
  for (const [slot, word] of Object.entries(storage))
    journal.setStorage(address, toWord(BigInt(slot)), toWord(BigInt(word)))
}

/** Initial state of a test, its root, and a reader that knows which accounts have storage (for EIP-7610). */
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

/** A refused transaction leaves the state unchanged; before EIP-158 the coinbase exists in any case. */
const refused = ({ reader }: Start, env: BlockEnv, fork: EvmFork, txError: string): Outcome => {
  const journal = new Journal(reader)
  if (!isForkSince(fork, 'spuriousDragon')) journal.addBalance(env.miner, 0n)
  return { journal, logs: [], txError }
}

/** Returns the message of an error that means an invalid transaction; rethrows others. */
const refusalOf = (error: unknown): string => {
  if (isCoded(error) && error.code !== 'STATE_TEST_INVALID' && error.code !== 'SHADOW_MISMATCH') return error.message
  throw error
}

/** Returns the entry's transaction, or the reason why its fields or bytes are invalid. */
const readTransaction = (fixture: Fixture, post: FixturePost, fork: EvmFork): Transaction | string => {
  try {
    return transactionFromTest(fixture, post, fork)
  } catch (error) {
    return refusalOf(error)
  }
}

const apply = async (
  { executor }: StateTestTools,
  start: Start,
  env: BlockEnv,
  tx: Transaction | string,
  fork: EvmFork,
): Promise<Outcome> => {
  if (typeof tx === 'string') return refused(start, env, fork, tx)
  const journal = new Journal(start.reader)
  try {
    const { receipts } = await executor.execute(journal, env, [tx])
    return { journal, logs: receipts[0]?.logs ?? [] }
  } catch (error) {
    return refused(start, env, fork, refusalOf(error))
  }
}

interface Entry {
  readonly post: FixturePost
  readonly forkName: string
  readonly fork: EvmFork
}

const runEntry = async (tools: StateTestTools, fixture: Fixture, start: Start, { post, forkName, fork }: Entry) => {
  const env = envFromTest(fixture, forkName, fork)
  const { journal, logs, txError } = await apply(tools, start, env, readTransaction(fixture, post, fork), fork)
  const [root] = await tools.trie.preview({ root: start.root, batches: [packChanges(journal.changes())] })
  assert(root !== undefined, 'there is a root for each batch')
  const logsHash = keccak256Hex(encodeLogs(logs))
  const pass = root === post.hash.toLowerCase() && logsHash === post.logs.toLowerCase()
  return { stateRoot: root, logsHash, pass, ...(txError !== undefined && { txError }) }
}

async function* runTest(
  tools: StateTestTools,
  name: string,
  fixture: Fixture,
  forks: ReadonlySet<string> | undefined,
): AsyncGenerator<StateTestResult> {
  let start: Start | undefined
  for (const [forkName, posts] of Object.entries(fixture.post)) {
    if (forks?.has(forkName) === false) continue
    const fork = forkFromName(forkName)
    for (const [index, post] of posts.entries()) {
      const entry = { name, fork: forkName, index }
      if (fork === undefined) {
        yield { ...entry, skipped: true, reason: 'unknown fork', pass: false }
        continue
      }
      try {
        start ??= await startOf(tools, fixture)
        yield { ...entry, ...(await runEntry(tools, fixture, start, { post, forkName, fork })) }
      } catch (error) {
        yield { ...entry, error: problemText(error), pass: false }
      }
    }
  }
}

/**
 * Runs every entry of every test of a file; `forks` limits them to these names. A test that cannot be read gives one result.
 */
export async function* runStateTests(
  tools: StateTestTools,
  tests: Readonly<Record<string, unknown>>,
  forks?: ReadonlySet<string>,
): AsyncGenerator<StateTestResult> {
  for (const [name, test] of Object.entries(tests)) {
    let fixture: Fixture
    try {
      fixture = readFixture(test)
    } catch (error) {
      yield { name, error: problemText(error), pass: false }
      continue
    }
    yield* runTest(tools, name, fixture, forks)
  }
}
