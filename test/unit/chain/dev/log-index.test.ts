import { join } from 'node:path'
import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { expect, test } from 'vitest'
import { rewindTo } from '../../../../src/chain/dev/rewind.ts'
import { LogIndexer } from '../../../../src/chain/logs/log-indexer.ts'
import { runLogJob } from '../../../../src/chain/logs/log-jobs.ts'
import { queryLogs } from '../../../../src/chain/logs/log-query.ts'
import { packCriteria } from '../../../../src/chain/store/log-criteria.ts'
import { readLogIndex } from '../../../../src/chain/store/log-index.ts'
import type { ChainBlock } from '../../../../src/chain/store/types.ts'
import { verifyChain } from '../../../../src/chain/verify-chain.ts'
import { DevelopmentRules } from '../../../../src/rules/development.ts'
import { Store } from '../../../../src/storage/store.ts'
import { ACCOUNT_KEYS, devGenesis, signedRaw, withChain } from '../../../support/chain.ts'
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
        earliest: () => 0,
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

test('a step that begins during a revert does not count reverted blocks', () =>
  withChain(
    async chain => {
      const { store, blocks } = chain
      const mine = async (count: number) => {
        for (let i = 0; i < count; i++) await chain.mine()
      }
      const begun = Promise.withResolvers<void>()
      const indexer = new LogIndexer({
        store,
        earliest: () => 0,
        run: job => {
          begun.resolve()
          return runLogJob(store, job, () => false)
        },
        stop: () => {},
        exclusively: work => chain.chain.exclusively(work),
        logger: silentLogger,
        sizes: { logIndexWait: 4, logIndexBlocks: 64, logIndexPlaces: 1_000, logIndexMerge: 16 },
      })
      await mine(8)
      await chain.chain.replaceHead(async () => {
        const development = DevelopmentRules.of(chain.genesis.params) as DevelopmentRules
        await rewindTo({ ...chain, development }, { number: 2, edits: 0 })
        // The chain's head is the old one until this is over.
        await Promise.race([begun.promise, indexer.settled()])
        return { block: (await blocks.block(2)) as ChainBlock, certificate: null }
      })
      await indexer.settled()
      const data = hexToBytes(LOGGING as Hex)
      await chain.pool.service.submit(
        signedRaw(ACCOUNT_KEYS[0] as Uint8Array, { nonce: 0, to: null, data, gasLimit: 200_000n }),
      )
      await mine(6)
      const criteria = packCriteria({ addresses: [], topics: [[`0x${'77'.repeat(32)}`]] })
      const limits = { results: 10, timeoutMs: 60_000, nowMs: () => 0 }
      const logs = await queryLogs(store, blocks, { fromBlock: 0, toBlock: 8, ...criteria }, limits)
      expect(logs.map(({ blockNumber }) => blockNumber)).toEqual([3])
      await indexer.settled()
      expect(readLogIndex(store).ranges.at(-1)?.to).toBe(8)
      expect((await verifyChain(store, { from: 0 })).problems).toEqual([])
    },
    { genesis: devGenesis(), mode: 'wasm' },
  ))
