import { silentLogger } from '@tandem/base/logger.ts'
import { LogIndexer } from '../../../../src/chain/logs/log-indexer.ts'
import { runLogJob } from '../../../../src/chain/logs/log-jobs.ts'
import { Store } from '../../../../src/storage/store.ts'

/* Program of tests: indexes the logs of the blocks from `earliest` on in small steps, until it is killed or has nothing left. */

const [path, earliest] = process.argv.slice(2)
const store = await Store.open(path as string, { writeBufferBytes: 64 * 1024 })
process.stdout.write('open\n')
const indexer = new LogIndexer({
  store,
  earliest: () => Number(earliest),
  run: job => runLogJob(store, job, () => false),
  stop: () => {},
  exclusively: work => work(),
  logger: silentLogger,
  sizes: { logIndexWait: 4, logIndexBlocks: 8, logIndexPlaces: 10_000, logIndexMerge: 3 },
})
await indexer.settled()
await store.close()
