import { join } from 'node:path'
import { runNode } from '../../../../src/cli/shared/process/run-node.ts'
import { testGenesis, VALIDATOR_KEY } from '../../../support/chain.ts'

/** A node that is told to stop while it starts, and whose folder cannot be removed then. */
const [folder] = process.argv.slice(2)
const running = runNode({
  flags: {
    host: '127.0.0.1',
    port: 0,
    execution: 'wasm',
    memory: 320,
    stateHistory: 128,
    allowUnprotectedTxs: false,
    logLevel: 'silent',
    json: true,
  },
  node: { genesis: testGenesis(), dataDir: join(folder as string, 'node'), validatorKey: VALIDATOR_KEY, unlocked: [] },
  announce: () => process.stdout.write('ready\n'),
  cleanUp: () => {
    throw new Error('the folder is not empty')
  },
})
process.kill(process.pid, 'SIGTERM')
await running
