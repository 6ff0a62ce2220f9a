import { defined } from '@tandem/base/defined.ts'
import type { Namespace } from '../../../config/networks.ts'
import type { NodeOptions } from '../../../node/options.ts'
import { startSyncedNode } from '../../../node/snapshot/start-synced-node.ts'
import { type ExplorerFiles, explorerFilesOf } from '../options/explorer-files.ts'
import type { NodeFlags } from '../options/options.ts'
import { type ProcessOptions, runProcess } from './run-process.ts'

interface RunOptions extends Pick<ProcessOptions, 'announce' | 'cleanUp'> {
  readonly flags: NodeFlags
  readonly node: Omit<NodeOptions, keyof SharedOptions>
}

/** Runs a node until a signal or a fatal error ends it. */
export const runNode = ({ flags, node, ...rest }: RunOptions): Promise<void> =>
  runProcess({
    logLevel: flags.logLevel,
    json: flags.json,
    listenOptions: {
      '--port': flags.port,
      '--operator-port': node.operatorPort,
      '--metrics-port': flags.metricsPort,
      '--stratum': node.stratum?.port,
      '--p2p-port': node.peers?.listen?.port,
      '--host': flags.host,
      '--metrics-host': flags.metricsHost,
      '--p2p-host': node.peers?.listen?.host,
    },
    start: deps => startSyncedNode({ ...node, ...sharedOptions(flags) }, deps),
    ...rest,
  })

type SharedOptions = ReturnType<typeof sharedOptions>

const sharedOptions = ({ metricsPort, metricsHost, cors, rateLimit, ...flags }: NodeFlags) => ({
  host: flags.host,
  port: flags.port,
  execution: flags.execution,
  stateHistory: flags.stateHistory,
  memoryMib: flags.memory,
  allowUnprotected: flags.allowUnprotectedTxs,
  allowHosts: flags.allowHosts ?? ['localhost'],
  ...defined({ metricsPort, metricsHost, cors, rateLimitPerSecond: rateLimit }),
})

/** `--explorer` with its files. */
export const explorerOptions = (
  { explorer, logLevel, ...flags }: ExplorerFiles & Pick<NodeFlags, 'logLevel'> & { readonly explorer: boolean },
  { startsAtOnce }: { readonly startsAtOnce: boolean },
) => (explorer ? { explorer: { startsAtOnce, logLevel, ...explorerFilesOf(flags) } } : {})

/** `--http-api`: the same list for both transports. */
export const namespacesOf = (names: readonly Namespace[] | undefined) =>
  names === undefined ? {} : { namespaces: { http: names, ws: names } }
