import { flushCompileCache } from 'node:module'
import type { Namespace } from '../config/networks.ts'
import { createLogger } from '../node/logging.ts'
import { startNode } from '../node/node.ts'
import type { NodeOptions, RunningNode } from '../node/options.ts'
import { systemClock } from '../util/clock.ts'
import type { NodeFlags } from './options.ts'
import { fail } from './output.ts'

export interface RunOptions {
  readonly flags: NodeFlags
  readonly node: Omit<NodeOptions, keyof SharedOptions>
  /** Prints what a person, or a script, wants to read first. */
  readonly announce: (node: RunningNode) => void
  /** After everything stopped. */
  readonly cleanUp?: () => void
}

/** A stop that takes longer than this is cut short. */
const STOP_MS = 900

/** Runs a node until a signal or a fatal error ends it. */
export const runNode = async ({ flags, node, announce, cleanUp }: RunOptions): Promise<void> => {
  let running: RunningNode | undefined
  let ending = false

  const end = (status: number): void => {
    if (ending) return
    ending = true
    process.exitCode = status
    setTimeout(leave, STOP_MS)
    void (running?.stop() ?? Promise.resolve()).catch(fail).finally(leave)
  }
  /** Whatever is in the way of cleaning up, the process ends here. */
  const leave = (): never => {
    try {
      cleanUp?.()
    } catch (error) {
      fail(error)
    }
    process.exit()
  }
  const onFatal = (error: Error): void => {
    fail(error)
    end(1)
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => end(0))
  process.on('uncaughtException', onFatal)
  process.on('unhandledRejection', reason => onFatal(reason instanceof Error ? reason : new Error(String(reason))))

  // Only now: what takes time before the handlers stand is time in which a signal leaves the temporary folder behind.
  const logger = createLogger({ level: flags.logLevel, format: flags.json ? 'json' : 'pretty' })
  try {
    running = await startNode({ ...node, ...sharedOptions(flags) }, { logger, clock: systemClock, onFatal })
  } catch (error) {
    fail(error)
    leave()
  }
  if (ending || running === undefined) return
  announce(running)
  // Written at a clean exit otherwise, which a killed node never reaches.
  flushCompileCache()
}

type SharedOptions = ReturnType<typeof sharedOptions>

const sharedOptions = (flags: NodeFlags) => ({
  host: flags.host,
  port: flags.port,
  execution: flags.execution,
  stateHistory: flags.stateHistory,
  allowUnprotected: flags.allowUnprotectedTxs,
  allowHosts: flags.allowHosts ?? ['localhost'],
  ...(flags.metricsPort !== undefined && { metricsPort: flags.metricsPort }),
  ...(flags.cors && { cors: flags.cors }),
  ...(flags.rateLimit !== undefined && { rateLimitPerSecond: flags.rateLimit }),
})

/** `--http-api`: the same list for both transports. */
export const namespacesOf = (names: readonly Namespace[] | undefined) =>
  names === undefined ? {} : { namespaces: { http: names, ws: names } }
