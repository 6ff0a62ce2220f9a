import { EVERY_LOG, packCriteria } from '../../../chain/logs/log-criteria.ts'
import { bytesToHex, type Hex, toQuantity } from '../../../util/bytes.ts'
import { isCoded } from '../../../util/errors.ts'
import {
  integerParameter,
  type ModuleActions,
  moduleList,
  optionalAddress,
  type Parameters,
  refuseModule,
} from './module-answer.ts'

const MAX_LOGS = 1_000
const QUERY_MS = 5_000
const TOPICS = ['topic0', 'topic1', 'topic2', 'topic3']

const topicsOf = (parameters: Parameters): (readonly Hex[] | null)[] => {
  const topics = TOPICS.map(name => {
    const text = parameters.get(name)?.toLowerCase() ?? ''
    if (text === '') return null
    if (!/^0x[0-9a-f]{64}$/.test(text)) throw refuseModule(`Error! Invalid ${name}`)
    return [text as Hex]
  })
  while (topics.length > 0 && topics.at(-1) === null) topics.pop()
  return topics
}

export const logActions: ModuleActions = {
  getlogs: async ({ source }, parameters) => {
    const head = (await source.headNumber()) ?? 0
    const address = optionalAddress(parameters, 'address')
    const topics = topicsOf(parameters)
    if (address === undefined && topics.length === 0) throw refuseModule('Error! Missing address or topic')
    const criteria = packCriteria({ addresses: address ? [address] : [], topics })
    const query = {
      ...EVERY_LOG,
      ...criteria,
      fromBlock: integerParameter(parameters, 'fromblock', 0),
      toBlock: Math.min(head, integerParameter(parameters, 'toblock', head)),
    }
    const limits = { results: MAX_LOGS, timeoutMs: QUERY_MS, nowMs: () => performance.now() }
    try {
      const logs = await source.logs(query, limits)
      const results = logs.map(async log => ({
        address: log.address,
        topics: log.topics,
        data: bytesToHex(log.data),
        blockNumber: toQuantity(log.blockNumber),
        blockHash: log.blockHash,
        timeStamp: toQuantity((await source.blocks.header(log.blockNumber))?.header.timestamp ?? 0),
        logIndex: toQuantity(log.logIndex),
        transactionHash: log.transactionHash,
        transactionIndex: toQuantity(log.transactionIndex),
      }))
      return moduleList(await Promise.all(results), 'No records found')
    } catch (error) {
      if (isCoded(error) && ['TOO_MANY_RESULTS', 'QUERY_TIMEOUT', 'RESULTS_TOO_LARGE'].includes(error.code))
        throw refuseModule(`Error! Too many logs; ask for fewer blocks (at most ${MAX_LOGS} logs)`)
      throw error
    }
  },
}
