import { flushCompileCache } from 'node:module'
import { createLogger, type LogLevel } from '../../node/logging.ts'
import type { NodeDeps, RunningNode } from '../../node/options.ts'
import { systemClock } from '../../util/clock.ts'
import { exitWithError } from './output.ts'

export interface ProcessOptions {
  readonly logLevel: LogLevel
  /** Logs as JSON, for machines. */
  readonly json: boolean
  readonly start: (deps: NodeDeps) => Promise<RunningNode>
  /** Prints what a person, or a script, wants to read first. */
  readonly announce: (node: RunningNode) => void
  /** After everything stopped. */
  readonly cleanUp?: () => void
}

/** A stop that takes longer than this is cut short. */
const STOP_MS = 900

/** Runs a node until a signal or a fatal error ends it. */
export const runProcess = async (options: ProcessOptions): Promise<void> => {
  const { start, announce, cleanUp } = options
  let running: RunningNode | undefined
  let ending = false

  const end = (status: number): void => {
    if (ending) return
    ending = true
    process.exitCode = status
    setTimeout(leave, STOP_MS)
    void (running?.stop() ?? Promise.resolve()).catch(exitWithError).finally(leave)
  }
  /** Whatever is in the way of cleaning up, the process ends here. */
  const leave = (): never => {
    try {
      cleanUp?.()
    } catch (error) {
      exitWithError(error)
    }
    process.exit()
  }
  const onFatal = (error: Error): void => {
    exitWithError(error)
    end(1)
  }
  // Whoever started this node as a part of its own (tandem localnet) is gone, whatever it died of.
  if (process.connected) process.once('disconnect', () => end(0))
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => end(0))
  process.on('uncaughtException', onFatal)
  process.on('unhandledRejection', reason => onFatal(reason instanceof Error ? reason : new Error(String(reason))))

  // Only now: what takes time before the handlers stand is time in which a signal leaves the temporary folder behind.
  const logger = createLogger({ level: options.logLevel, format: options.json ? 'json' : 'pretty' })
  try {
    running = await start({ logger, clock: systemClock, onFatal })
  } catch (error) {
    exitWithError(error)
    leave()
  }
  if (ending || running === undefined) return
  announce(running)
  // Written at a clean exit otherwise, which a killed node never reaches.
  flushCompileCache()
}
