import { flushCompileCache } from 'node:module'
import { systemClock } from '@tandem/base/clock.ts'
import { isCoded } from '@tandem/base/errors.ts'
import type { LogLevel } from '@tandem/base/logger.ts'
import { threadsLoaded } from '@tandem/base/worker/loading-threads.ts'
import { createLogger } from '../../../node/logging.ts'
import type { NodeDeps, RunningNode } from '../../../node/options.ts'
import { exitWithError } from '../output.ts'
import { type ListenOptions, nameListenOption } from './free-port.ts'
import { onEnd, SIGNALS } from './parent-process.ts'

export interface ProcessOptions {
  readonly logLevel: LogLevel
  /** Logs as JSON, for machines. */
  readonly json: boolean
  readonly start: (deps: NodeDeps) => Promise<RunningNode>
  /** Prints the first output for a person or a script. */
  readonly announce: (node: RunningNode) => void
  /** Options whose ports and hosts the process listens on; --port and --host alone when omitted. */
  readonly listenOptions?: ListenOptions
  /** Called after everything stopped. */
  readonly cleanUp?: () => void
}

/** Milliseconds after which a stop is cut short. */
const STOP_MS = 900

/** Exit status of a node whose validator key votes elsewhere: started again it would contradict the other, and be jailed. */
const KEY_VOTES_ELSEWHERE = 3
const statusOf = (error: Error): number =>
  isCoded(error) && (error.code === 'KEY_IN_USE' || error.code === 'KEY_IN_USE_ELSEWHERE') ? KEY_VOTES_ELSEWHERE : 1

/** Keeps a signal from ending the process before `runProcess`, called in the same turn of the event loop, handles it. */
export const deferSignals = (): void => {
  for (const signal of SIGNALS) process.on(signal, () => {})
}

/** Stops a node as soon as it has started; a failed start needs no stop. */
const stopStarted = async (starting: Promise<RunningNode> | undefined): Promise<void> => {
  const running = await starting?.catch(() => undefined)
  await running?.stop().catch(exitWithError)
}

/** Runs a node until a signal or a fatal error ends it. */
export const runProcess = async (options: ProcessOptions): Promise<void> => {
  const { start, announce, cleanUp } = options
  let starting: Promise<RunningNode> | undefined
  let running: RunningNode | undefined
  let ending = false
  let leaving = false

  const end = (status: number): void => {
    if (ending) return
    ending = true
    process.exitCode = status
    setTimeout(leave, STOP_MS)
    // A start under way could make files again in a folder that is removed.
    void stopStarted(starting).finally(leave)
  }
  /** A failed clean-up must not keep the process running. */
  const leave = async (): Promise<void> => {
    if (leaving) return
    leaving = true
    await threadsLoaded()
    try {
      cleanUp?.()
    } catch (error) {
      exitWithError(error)
    }
    process.exit()
  }
  const onFatal = (error: Error): void => {
    exitWithError(error)
    end(statusOf(error))
  }
  onEnd(() => end(0))
  // A reader of errors that is gone cannot be told so: the failed line would be the next fatal error, for ever.
  process.stderr.on('error', () => {})
  process.on('uncaughtException', onFatal)
  process.on('unhandledRejection', reason => onFatal(reason instanceof Error ? reason : new Error(String(reason))))

  // After the signal handlers: a signal before them would leave the temporary folder behind.
  const logger = createLogger({ level: options.logLevel, format: options.json ? 'json' : 'pretty' })
  try {
    starting = start({ logger, clock: systemClock, onFatal })
    running = await starting
  } catch (error) {
    if (ending) return
    exitWithError(await nameListenOption(error, options.listenOptions))
    await leave()
  }
  if (ending || running === undefined) return
  announce(running)
  // Node.js writes it only at a clean exit, which a killed node never reaches.
  flushCompileCache()
}
