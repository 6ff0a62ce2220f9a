import { join } from 'node:path'
import type { Hex } from '@tandem/base/bytes.ts'
import { systemClock } from '@tandem/base/clock.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { startExplorerProcess } from '@tandem/explorer/service/explorer-process.ts'
import { SqlIndex } from '@tandem/explorer/store/sql/sql-index.ts'
import { SqliteDatabase } from '@tandem/explorer/store/sqlite/sqlite-database.ts'
import { expect, test, vi } from 'vitest'
import { type DevNode, withDevNode } from '../../support/dev-node.ts'
import { RandomBlocks } from './random-blocks.ts'

vi.setConfig({ testTimeout: 120_000 })

const start = ({ urls: { ws }, dataDir }: DevNode, path: string) =>
  startExplorerProcess({
    nodeUrl: ws,
    rpcUrl: undefined,
    dataDir,
    database: { kind: 'sqlite', path, ephemeral: false },
    host: '127.0.0.1',
    port: 0,
    keysFile: undefined,
    labelsFile: undefined,
    priceFile: undefined,
    solcDirectory: undefined,
    clientOf: () => '127.0.0.1',
    version: '1',
    signal: new AbortController().signal,
    clock: systemClock,
    logger: silentLogger,
  })

test('the index of another chain is refused with both hashes, and left as it is', () =>
  withDevNode(
    async (ask, node) => {
      const path = join(node.dataDir, 'foreign.sqlite')
      const blocks = new RandomBlocks({ seed: 3 }).chain(5)
      const foreign = new SqlIndex(new SqliteDatabase({ path }))
      await foreign.append(blocks)
      await foreign.close()
      const genesis = await ask<{ hash: Hex }>('eth_getBlockByNumber', '0x0', false)
      const refusal = await start(node, path).then(
        () => 'started',
        (error: { detail?: unknown }) => error.detail,
      )
      expect(refusal).toEqual({ code: 'INDEX_FOREIGN', path, found: blocks[0]?.hash, expected: genesis.hash })
      const left = new SqlIndex(new SqliteDatabase({ path }))
      expect(await left.position()).toEqual({ number: 4, hash: blocks[4]?.hash })
      await left.close()
      // One of its own, and an empty one, are taken.
      const own = join(node.dataDir, 'own.sqlite')
      for (const _ of ['empty', 'own']) {
        const explorer = await start(node, own)
        const indexed = async () =>
          (await fetch(`http://127.0.0.1:${explorer.port}/api/blocks`)).headers.get('x-indexed-block')
        await expect.poll(indexed, { timeout: 60_000 }).toMatch(/^\d+$/)
        // A second explorer on it would write the same blocks.
        const second = start(node, own).then(
          () => 'started',
          (error: { detail?: unknown }) => error.detail,
        )
        expect(await second).toEqual({ code: 'INDEX_IN_USE', path: own })
        await explorer.close()
      }
    },
    { params: { devHelpers: false, blockTimeMs: 1_000 } },
  ))
