import { bytesToHex, type Hex, toQuantity } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import type { LogEntry } from '../../chain/types.ts'
import { EXPLORER_LIMITS } from '../../limits.ts'
import type { PageRequest } from '../../store/index-query.ts'
import type { ApiContext } from '../api-route.ts'
import {
  blockParameter,
  type ModuleActions,
  moduleList,
  modulePage,
  optionalAddress,
  type Parameters,
  refuseModule,
  wholePage,
} from './module-answer.ts'

/** Results that pages reach. */
const MAX_LOGS = 10_000
const QUERY_MS = 5_000
const TOPICS = [0, 1, 2, 3] as const

/** Topics by position; null matches any. */
type TopicFilter = readonly (readonly Hex[] | null)[]

const topicAt = (parameters: Parameters, at: number): Hex | undefined => {
  const text = parameters.get(`topic${at}`)?.toLowerCase() ?? ''
  if (text === '') return undefined
  if (!/^0x[0-9a-f]{64}$/.test(text)) throw refuseModule(`Error! Invalid topic${at}`)
  return text as Hex
}

/** Operator between a topic and the nearest one before it that has one; `and` by default. */
const operatorOf = (parameters: Parameters, given: readonly number[], at: number): 'and' | 'or' => {
  for (const before of given.toReversed()) {
    const name = `topic${before}_${at}_opr`
    const text = parameters.get(name)?.toLowerCase() ?? ''
    if (text === 'and' || text === 'or') return text
    if (text !== '') throw refuseModule(`Error! Invalid ${name}`)
  }
  return 'and'
}

/**
 * Topic filters of which a log must pass one: the topics from the first to the last, joined by `topic<i>_<j>_opr` from left to right, so that
 * `and` narrows the filter before it and `or` begins a new one.
 */
const topicFilters = (parameters: Parameters): readonly TopicFilter[] => {
  const filters: (readonly Hex[] | null)[][] = [[]]
  const given: number[] = []
  for (const at of TOPICS) {
    const topic = topicAt(parameters, at)
    if (topic === undefined) continue
    if (operatorOf(parameters, given, at) === 'or') filters.push([])
    const filter = filters.at(-1) as (readonly Hex[] | null)[]
    while (filter.length < at) filter.push(null)
    filter.push([topic])
    given.push(at)
  }
  return filters
}

interface LogSearch {
  readonly address: Hex | undefined
  readonly filters: readonly TopicFilter[]
  readonly fromBlock: number
  readonly toBlock: number
}

/** Logs of a range of blocks that pass one of the filters, in order. Throws what the source throws. */
const logsBetween = async (
  { source }: ApiContext,
  { address, filters, fromBlock, toBlock }: LogSearch,
): Promise<readonly LogEntry[]> => {
  const found = new Map<string, LogEntry>()
  for (const topics of filters) {
    for (const log of await source.logs({ address, topics, fromBlock, toBlock }, MAX_LOGS))
      found.set(`${log.blockNumber} ${log.logIndex}`, log)
  }
  if (filters.length === 1) return [...found.values()]
  return [...found.values()].sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)
}

const tooSlow = () => refuseModule('Error! The search takes too long; ask for fewer blocks')

const isCut = (error: unknown): boolean => isCoded(error) && error.code === 'TOO_MANY_LOGS'

/** The logs of a search behind the first `offset` ones, at most `limit`, from ranges that are halved while they hold more than one search may find. */
const pageOfLogs = async (
  context: ApiContext,
  search: LogSearch,
  { offset, limit }: Pick<PageRequest, 'offset' | 'limit'>,
): Promise<readonly LogEntry[]> => {
  const deadlineMs = performance.now() + QUERY_MS
  const page: LogEntry[] = []
  let [skipped, bytes] = [0, 0]
  let { fromBlock, toBlock } = search
  while (fromBlock <= search.toBlock && page.length < limit) {
    if (performance.now() > deadlineMs) throw tooSlow()
    try {
      const logs = await logsBetween(context, { ...search, fromBlock, toBlock })
      const added = logs.slice(Math.max(0, offset - skipped), Math.max(0, offset - skipped) + limit - page.length)
      skipped += Math.min(logs.length, offset - skipped)
      for (const { data } of added) bytes += data.byteLength
      if (bytes > EXPLORER_LIMITS.api.moduleLogBytes)
        throw refuseModule('Error! The logs are too large; take a smaller offset')
      page.push(...added)
      fromBlock = toBlock + 1
      toBlock = search.toBlock
    } catch (error) {
      if (!isCut(error) || toBlock === fromBlock) throw error
      toBlock = fromBlock + Math.floor((toBlock - fromBlock) / 2)
    }
  }
  return page
}

/** Rows of a page of logs; each transaction and header is read once. */
const logResults = async ({ index, source }: ApiContext, logs: readonly LogEntry[]): Promise<readonly object[]> => {
  const places = new Map(logs.map(log => [log.transactionHash, log]))
  const transactions = new Map(
    await Promise.all(
      [...places].map(async ([hash, { blockNumber, transactionIndex }]) => {
        const row = await index.transaction(blockNumber, transactionIndex)
        if (row?.hash === hash) return [hash, row] as const
        const receipt = (await source.receipt(hash))?.receipt
        return [hash, receipt && { gasPrice: receipt.effectiveGasPrice, gasUsed: receipt.gasUsed }] as const
      }),
    ),
  )
  const timestamps = new Map(
    await Promise.all(
      [...new Set(logs.map(log => log.blockNumber))].map(
        async number => [number, (await source.header(number))?.timestamp ?? 0] as const,
      ),
    ),
  )
  return logs.map(log => ({
    address: log.address,
    topics: log.topics,
    data: bytesToHex(log.data),
    blockNumber: toQuantity(log.blockNumber),
    blockHash: log.blockHash,
    timeStamp: toQuantity(timestamps.get(log.blockNumber) ?? 0),
    gasPrice: toQuantity(transactions.get(log.transactionHash)?.gasPrice ?? 0n),
    gasUsed: toQuantity(transactions.get(log.transactionHash)?.gasUsed ?? 0n),
    logIndex: toQuantity(log.logIndex),
    transactionHash: log.transactionHash,
    transactionIndex: toQuantity(log.transactionIndex),
  }))
}

export const logActions: ModuleActions = {
  getlogs: async (context, parameters) => {
    const head = (await context.source.headNumber()) ?? 0
    const address = optionalAddress(parameters, 'address')
    const filters = topicFilters(parameters)
    if (address === undefined && filters[0]?.length === 0) throw refuseModule('Error! Missing address or topic')
    const page = modulePage(parameters)
    if (page.offset + page.limit > MAX_LOGS)
      throw refuseModule(`Result window is too large, PageNo x Offset size must be less than or equal to ${MAX_LOGS}`)
    const fromBlock = await blockParameter(context, parameters, 'fromblock', 0)
    const toBlock = Math.min(head, await blockParameter(context, parameters, 'toblock', head))
    try {
      // One more tells whether a longer page would have been cut.
      const { offset, limit } = page
      const found = await pageOfLogs(context, { address, filters, fromBlock, toBlock }, { offset, limit: limit + 1 })
      const logs = wholePage(parameters, { items: found.slice(0, limit), next: found[limit] ?? null })
      return moduleList(await logResults(context, logs), 'No records found')
    } catch (error) {
      if (isCut(error)) throw refuseModule(`Error! A block has more than ${MAX_LOGS} such logs; narrow the topics`)
      throw error
    }
  },
}
