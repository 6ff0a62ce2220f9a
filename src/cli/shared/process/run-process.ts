import { flushCompileCache } from 'node:module'
import { createLogger, type LogLevel } from '../../../node/logging.ts'
import type { NodeDeps, RunningNode } from '../../../node/options.ts'
import { systemClock } from '../../../util/clock.ts'
import { exitWithError } from '../output.ts'
import { nameFreePort } from './free-port.ts'
import { onParentExit } from './parent-process.ts'

export interface ProcessOptions {
  readonly logLevel: LogLevel
  /** Logs as JSON, for machines. */
  readonly json: boolean
  readonly start: (deps: NodeDeps) => Promise<RunningNode>
  /** Prints the first output for a person or a script. */
  readonly announce: (node: RunningNode) => void
  /** Called after everything stopped. */
  readonly cleanUp?: () => void
}

/** Milliseconds after which a stop is cut short. */
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
  /** A failed clean-up must not keep the process running. */
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
  onParentExit(() => end(0))
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => end(0))
  process.on('uncaughtException', onFatal)
  process.on('unhandledRejection', reason => onFatal(reason instanceof Error ? reason : new Error(String(reason))))

  // After the signal handlers: a signal before them would leave the temporary folder behind.
  const logger = createLogger({ level: options.logLevel, format: options.json ? 'json' : 'pretty' })
  try {
    running = await start({ logger, clock: systemClock, onFatal })
  } catch (error) {
    exitWithError(await nameFreePort(error))
    leave()
  }
  if (ending || running === undefined) return
  announce(running)
  // Node.js writes it only at a clean exit, which a killed node never reaches.
  flushCompileCache()
}
