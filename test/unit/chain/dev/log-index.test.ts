import { join } from 'node:path'
import { silentLogger } from '@tandem/base/logger.ts'
import { expect, test } from 'vitest'
import { LogIndexer } from '../../../../src/chain/logs/log-indexer.ts'
import { runLogJob } from '../../../../src/chain/logs/log-jobs.ts'
import { readLogIndex } from '../../../../src/chain/store/log-index.ts'
import { verifyChain } from '../../../../src/chain/verify-chain.ts'
import { Store } from '../../../../src/storage/store.ts'
import { type Ask, withDevNode } from '../../../support/dev-node.ts'

const ALICE = `0x${'a1'.repeat(20)}`
/** Init code that logs one word with a topic. */
const LOGGING = `0x7f${'77'.repeat(32)}60205fa100`

const log = (ask: Ask) => ask('eth_sendTransaction', { from: ALICE, data: LOGGING, gas: '0x30d40' })
const logsAt = async (ask: Ask, topic: string): Promise<readonly string[]> => {
  const filter = { fromBlock: '0x0', topics: [`0x${topic.repeat(32)}`] }
  return (await ask<{ blockNumber: string }[]>('eth_getLogs', filter)).map(({ blockNumber }) => blockNumber)
}

test('the index of a running chain follows its blocks and their reverts, also over a restart', () =>
  withDevNode(async (ask, { dataDir, stop }) => {
    await ask('anvil_autoImpersonateAccount', true)
    await ask('anvil_setBalance', ALICE, '0xde0b6b3a7640000')
    await log(ask)
    await ask('hardhat_mine', '0x64')
    const snapshot = await ask('evm_snapshot')
    await log(ask)
    await ask('hardhat_mine', '0x12c')
    expect(await logsAt(ask, '77')).toEqual(['0x1', '0x66'])
    await ask('evm_revert', snapshot)
    expect(await logsAt(ask, '77')).toEqual(['0x1'])
    expect(await logsAt(ask, '78')).toEqual([])
    await log(ask)
    await log(ask)
    await ask('hardhat_mine', '0xc8')
    expect(await logsAt(ask, '77')).toEqual(['0x1', '0x66', '0x67'])
    await stop()
    const store = await Store.open(join(dataDir, 'db'), { createIfMissing: false })
    try {
      expect((await verifyChain(store, { from: 0 })).problems).toEqual([])
      // A stop may have come before the last step.
      const indexer = new LogIndexer({
        store,
        bounds: () => ({ earliest: 0, head: 303 }),
        run: job => runLogJob(store, job, () => false),
        stop: () => {},
        exclusively: work => work(),
        logger: silentLogger,
      })
      await indexer.settled()
      expect(readLogIndex(store).ranges.at(-1)?.to).toBeGreaterThan(102)
      expect((await verifyChain(store, { from: 0 })).problems).toEqual([])
    } finally {
      await store.close()
    }
  }))
