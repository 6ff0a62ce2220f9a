import { integerParameter, type ModuleActions, moduleFailure, moduleSuccess, refuseModule } from './module-answer.ts'

/** Number of the block at a time: the last one not after it, or the first one not before it. */
export const blockActions: ModuleActions = {
  getblocknobytime: async ({ index }, parameters) => {
    const timestamp = integerParameter(parameters, 'timestamp', -1)
    const closest = parameters.get('closest') ?? 'before'
    if (timestamp < 0) throw refuseModule('Error! Invalid timestamp')
    const number = await index.blockAt(timestamp, closest === 'after' ? 'after' : 'before')
    return number === undefined ? moduleFailure('Error! No closest block found') : moduleSuccess(String(number))
  },
  getblockreward: async ({ index }, parameters) => {
    const number = integerParameter(parameters, 'blockno', -1)
    const block = number < 0 ? undefined : await index.block(number)
    if (block === undefined) return moduleFailure('Error! Block not found')
    return moduleSuccess({
      blockNumber: String(block.number),
      timeStamp: String(block.timestamp),
      blockMiner: block.miner,
      blockReward: (block.proposerWei + block.minerWei).toString(),
      uncles: [],
      uncleInclusionReward: '0',
    })
  },
}
