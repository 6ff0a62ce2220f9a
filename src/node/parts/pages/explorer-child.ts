import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { CodedError } from '@tandem/base/errors.ts'
import type { Logger, LogLevel } from '@tandem/base/logger.ts'
import { ownCommand } from '@tandem/base/own-files.ts'
import { FORWARD_LIMITS } from '../../../config/limits/clients.ts'

/** Settings of an explorer that a node starts, sent over the channel to the process. */
export interface ExplorerSettings {
  /** WebSocket of the node on the loopback, with the key of its calls. */
  readonly nodeUrl: string
  readonly dataDir: string
  /** The index ends with the chain: it need not outlive a loss of power. */
  readonly ephemeral: boolean
  /** Key of forwarded requests: `x-forwarded-for` is believed beside it alone. */
  readonly forwardKey: string
  /** Returns true when the node serves the faucet too, to which the pages link. */
  readonly hasFaucet: boolean
  /** Methods that the operator switched off for the public. */
  readonly disabledMethods: readonly string[]
  /** Namespaces of the public port. */
  readonly publicNamespaces: readonly string[]
  readonly keysFile?: string | undefined
  readonly labelsFile?: string | undefined
  readonly priceFile?: string | undefined
  readonly solcDirectory?: string | undefined
  readonly logLevel: LogLevel
}

/** Thrown as CodedError when the explorer cannot take a request now. */
type ExplorerAway = {
  readonly code: 'EXPLORER_AWAY'
  /** Time until it is started again. */
  readonly retrySeconds: number
}

interface ExplorerChildOptions {
  /** Opens what the process connects to, and returns its settings. */
  readonly settings: () => Promise<ExplorerSettings>
  readonly logger: Logger
}

/** Program that is started, and not loaded here. */
const PROGRAM = pathToFileURL(join(import.meta.dirname, '..', '..', '..', 'cli', 'explorer', 'behind-node.ts'))
const { startMs, firstRestartMs, lastRestartMs, steadyMs, stopMs } = FORWARD_LIMITS

/** Process of the explorer, started when needed, again at growing intervals; it ends with this one, when their channel closes. */
export class ExplorerChild {
  readonly #options: ExplorerChildOptions
  #child: ChildProcess | undefined
  #port: Promise<number> | undefined
  #restart: NodeJS.Timeout | undefined
  #restartAtMs = 0
  #restartMs: number = firstRestartMs
  #isClosed = false

  constructor(options: ExplorerChildOptions) {
    this.#options = options
  }

  /** Process id, while there is one. */
  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** Returns its port once it listens; starts it where needed. Throws EXPLORER_AWAY. */
  port(): Promise<number> {
    if (this.#isClosed || this.#restart !== undefined) return Promise.reject(this.#away())
    this.#port ??= this.#start()
    return this.#port
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#restart)
    const child = this.#child
    if (child?.pid === undefined) return
    const ended = new Promise<void>(resolve => child.once('exit', () => resolve()))
    child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), stopMs)
    await ended
    clearTimeout(timer)
  }

  async #start(): Promise<number> {
    const startedMs = performance.now()
    try {
      const child = this.#spawn(await this.#options.settings())
      return await portOf(child, status => this.#onEnd(status, performance.now() - startedMs))
    } catch (error) {
      if (this.#child === undefined && this.#port !== undefined)
        this.#onEnd(error instanceof Error ? error.message : String(error), 0)
      throw this.#away()
    }
  }

  #spawn(settings: ExplorerSettings): ChildProcess {
    if (this.#isClosed) throw this.#away()
    const flags = process.execArgv.filter(flag => !flag.startsWith('--inspect'))
    const [program, ...args] = ownCommand(PROGRAM, flags)
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
    this.#child = child
    readLines(child.stderr as Readable, line => passLine(this.#options.logger, line))
    child.send(settings, error => error && child.kill('SIGKILL'))
    return child
  }

  #onEnd(status: string, ranMs: number): void {
    this.#child = undefined
    this.#port = undefined
    if (this.#isClosed) return
    if (ranMs >= steadyMs) this.#restartMs = firstRestartMs
    const delayMs = this.#restartMs
    this.#restartMs = Math.min(lastRestartMs, 2 * delayMs)
    this.#options.logger.error({ status, restartSeconds: delayMs / 1_000 }, 'the explorer ended; it is started again')
    this.#restartAtMs = performance.now() + delayMs
    this.#restart = setTimeout(() => {
      this.#restart = undefined
      this.port().catch(() => undefined)
    }, delayMs).unref()
  }

  #away(): CodedError<ExplorerAway> {
    const retrySeconds = Math.max(1, Math.ceil((this.#restartAtMs - performance.now()) / 1_000))
    return new CodedError({ code: 'EXPLORER_AWAY', retrySeconds })
  }
}

/** Resolves with the port once a process listens; rejects when it ends before. `onEnd` is called whenever it ends. */
const portOf = (child: ChildProcess, onEnd: (status: string) => void): Promise<number> =>
  new Promise((resolve, reject) => {
    const late = setTimeout(() => child.kill('SIGKILL'), startMs)
    readLines(child.stdout as Readable, line => {
      const url = recordOf(line)?.['explorer']
      if (typeof url !== 'string' || !URL.canParse(url)) return
      clearTimeout(late)
      resolve(Number(new URL(url).port))
    })
    const ended = (status: string): void => {
      clearTimeout(late)
      onEnd(status)
      reject(new Error(status))
    }
    child.once('exit', (code, signal) => ended(signal ?? `status ${code}`))
    // A process that could not be created has no exit.
    child.once('error', error => {
      if (child.pid === undefined) ended(error.message)
    })
  })

const readLines = (stream: Readable, use: (line: string) => void): void => {
  createInterface({ input: stream }).on('line', use)
}

/** Writes a line of its log into that of the node. */
const passLine = (logger: Logger, line: string): void => {
  const record = recordOf(line)
  if (record === undefined) {
    if (line !== '') logger.error({}, line)
    return
  }
  const { level, time: _time, module: _module, msg, ...fields } = record
  const isKnown = level === 'error' || level === 'warn' || level === 'debug'
  logger[isKnown ? level : 'info'](fields, String(msg))
}

const recordOf = (line: string): Record<string, unknown> | undefined => {
  if (!line.startsWith('{')) return undefined
  try {
    return JSON.parse(line) as Record<string, unknown>
  } catch {
    return undefined
  }
}
