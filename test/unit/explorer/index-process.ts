import { createInterface } from 'node:readline'
import { silentLogger } from '@tandem/base/logger.ts'
import { Indexer, type IndexerState } from '@tandem/explorer/indexer/indexer.ts'
import { openIndex } from '@tandem/explorer/store/open-index.ts'
import { Store } from '../../../src/storage/store.ts'
import { testGenesis } from '../../support/chain.ts'
import { localCall } from '../../support/explorer/source/local-calls.ts'
import { localChainOf } from '../../support/explorer/token-chain.ts'

/* A process that fills an index a block or a few at a time, one transaction for each line it is sent, for tests that end it at any instant. */

const [storePath, place] = process.argv.slice(2) as [string, string]
const index = await openIndex(
  place.startsWith('postgres:') ? { kind: 'postgres', url: place } : { kind: 'sqlite', path: place, ephemeral: false },
)
const source = localChainOf({ store: await Store.open(storePath, { createIfMissing: false }), genesis: testGenesis() })
const indexer = new Indexer({
  source,
  call: localCall(source),
  index,
  logger: silentLogger,
  nowMs: () => performance.now(),
  batchBlocks: 1,
  backfillBlocks: 6,
  bulkRows: 2,
})
process.stdout.write('begun\n')
let state: IndexerState = 'behind'
for await (const _ of createInterface({ input: process.stdin })) {
  state = await indexer.step()
  if (state === 'at the head') break
  process.stdout.write('batch\n')
}
await index.close()
await source.store.close()
process.stdout.write('done\n')
process.stdin.destroy()
