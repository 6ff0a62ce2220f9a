import { bytesEqual, type Hex } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import { headerHash } from '../primitives/header.ts'
import { bloomFromLogs } from '../primitives/receipt/bloom.ts'
import { receiptsRoot, transactionsRoot } from '../primitives/roots.ts'
import { verifyState } from '../state/world/verify-state.ts'
import { checkSegments } from '../storage/move-segment.ts'
import type { Store } from '../storage/store.ts'
import { verifyCouncils } from './council/council-rows.ts'
import { verifyLogIndex } from './logs/log-jobs.ts'
import { verifyProofs } from './proof/verify-proofs.ts'
import { BlockStore } from './store/block-store.ts'
import { readEarliestBlock } from './store/earliest-block.ts'
import { readHead } from './store/put-block.ts'
import type { TransactionLocation } from './store/types.ts'

interface ChainVerifyProgress {
  readonly part: 'blocks' | 'state'
  readonly done: number
  readonly of: number | undefined
}

/** Limit of reported problems. */
const MAX_PROBLEMS = 100

/**
 * Recomputes the data of a stored chain: block hashes and links, transaction and receipt roots, blooms, lookups, gas sums, the head's state
 * root from the flat tables; decodes the councils of all cycles, and verifies the proof headers from block to block.
 */
export const verifyChain = async (
  store: Store,
  options: { readonly from: number; readonly onProgress?: (progress: ChainVerifyProgress) => void },
) => {
  const blocks = new BlockStore(store)
  const head = readHead(store)
  if (head === undefined) throw new Error('The data folder holds no chain.')
  if (options.from > head) throw new Error(`The chain ends at block ${head}, before block ${options.from}.`)
  await checkSegments(store, true)
  const problems: string[] = []
  const tell = (number: number, problem: string) => {
    if (problems.length < MAX_PROBLEMS) problems.push(`block ${number}: ${problem}`)
  }
  let transactions = 0
  blocks.earliest = await readEarliestBlock(store)
  // A chain that began with a snapshot has only genesis below `earliest` until the blocks between are fetched.
  const first = Math.max(options.from, blocks.earliest)
  const check = (number: number) =>
    readable(number, tell, () => verifyBlock({ blocks, head }, number, problem => tell(number, problem)))
  if (first > 0 && options.from === 0) transactions += await check(0)
  for (let number = first; number <= head; number++) {
    transactions += await check(number)
    if (number % 1_000 === 0) options.onProgress?.({ part: 'blocks', done: number, of: head })
  }
  for (const { number, problem } of await verifyCouncils(store, head)) tell(number, problem)
  for await (const { number, problem } of verifyProofs(store, blocks, { first, head })) tell(number, problem)
  await verifyLogIndex(store, { earliest: blocks.earliest, head }, tell)
  const hash = await readable<Hex | 0>(head, tell, async () => (await blocks.block(head))?.hash ?? 0)
  const state = await verifyState(store, ({ accounts }) =>
    options.onProgress?.({ part: 'state', done: accounts, of: undefined }),
  )
  for (const { kind, ...fields } of state.problems) tell(head, `${kind} ${JSON.stringify(fields)}`)
  return {
    head,
    hash: hash === 0 ? '0x' : hash,
    blocks: head - first + 1,
    transactions,
    accounts: state.accounts,
    problems,
  }
}

/** Reports a row that cannot be decoded as one more problem and returns 0. Errors of the database itself end the check. */
const readable = async <T>(
  number: number,
  tell: (number: number, problem: string) => void,
  work: () => Promise<T>,
): Promise<T | 0> => {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Error) || (isCoded(error) && error.code.startsWith('STORE_'))) throw error
    tell(number, `cannot be read: ${error.message}`)
    return 0
  }
}

interface VerifiedBlocks {
  readonly blocks: BlockStore
  readonly head: number
}

/** Returns the number of transactions. */
const verifyBlock = async (
  { blocks, head }: VerifiedBlocks,
  number: number,
  tell: (problem: string) => void,
): Promise<number> => {
  const block = await blocks.block(number)
  const receipts = await blocks.receipts(number)
  if (block === undefined || receipts === undefined) {
    tell('is missing')
    return 0
  }
  const { header, hash, transactions } = block
  const compare = (what: string, have: unknown, want: unknown) => {
    if (have !== want) tell(`${what} is ${String(have)}, computed ${String(want)}`)
  }
  compare('hash', hash, headerHash(header))
  compare('number', header.number, number)
  compare('lookup of its hash', await blocks.numberOf(hash), number)
  if (number > 0 && number !== blocks.earliest)
    compare('parent hash', header.parentHash, (await blocks.block(number - 1))?.hash)
  compare('transactions root', header.transactionsRoot, transactionsRoot(transactions))
  compare('receipts root', header.receiptsRoot, receiptsRoot(receipts))
  compare('gas used', header.gasUsed, receipts.at(-1)?.cumulativeGasUsed ?? 0n)
  const bloom = bloomFromLogs(receipts.flatMap(receipt => receipt.logs))
  if (!bytesEqual(header.logsBloom, bloom)) tell('logs bloom is not that of its receipts')
  for (const [index, transaction] of transactions.entries()) {
    if (!(await isLookupRight({ blocks, head }, transaction.hash, { number, index })))
      tell(`lookup of transaction ${transaction.hash} is wrong`)
  }
  if (number > 0 && (await blocks.certificate(number)) === undefined) tell('has no certificate')
  return transactions.length
}

/** On a development chain a transaction may be in several blocks: its lookup then names each of them. */
const isLookupRight = async (
  { blocks, head }: VerifiedBlocks,
  hash: Hex,
  place: TransactionLocation,
): Promise<boolean> => {
  let isFound = false
  for await (const { number, index } of blocks.locations(hash)) {
    if (number > head) return false
    isFound ||= number === place.number && index === place.index
  }
  return isFound
}
