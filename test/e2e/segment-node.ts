import { systemClock } from '@tandem/base/clock.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { startNode } from '../../src/node/node.ts'
import { devGenesis, VALIDATOR_KEY } from '../support/chain.ts'

/* Program of tests: a node of one validator with small segments, whose blocks are final. Prints its URL; ends with a signal. */

const [dataDir, history] = process.argv.slice(2)
const genesis = devGenesis()
const node = await startNode(
  {
    genesis: { ...genesis, params: { ...genesis.params, devHelpers: false, blockTimeMs: 100 } },
    dataDir: dataDir as string,
    execution: 'wasm',
    stateHistory: 'archive',
    history: history === undefined ? undefined : Number(history),
    segments: { blocks: 8, recent: 8 },
    namespaces: { http: ['eth', 'net', 'rpc', 'debug'], ws: ['eth', 'native'] },
    host: '127.0.0.1',
    port: 0,
    allowUnprotected: false,
    validatorKey: VALIDATOR_KEY,
    // A test makes blocks for it.
    trustMissingLog: true,
    unlocked: [],
  },
  { logger: silentLogger, clock: systemClock, onFatal: error => process.stderr.write(`${error.stack}\n`) },
)
process.stdout.write(`${node.urls.http}\n`)
process.on('SIGTERM', () => node.stop())
