import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readSync, renameSync, statSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { isSea } from 'node:sea'
import { LOCALNET_LIMITS } from '../../config/limits/commands.ts'
import { logFileOf, type NodePlan } from './plan.ts'
import type { ProcessState } from './report/status.ts'

/** Used members of the ready line of `tandem start --json`. */
export interface NodeUrls {
  readonly http: string
  readonly ws: string
  readonly operator: string
  readonly peer: string
  readonly metrics?: string
  readonly stratum?: string
}

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

interface NodeProcessOptions {
  readonly plan: NodePlan
  /** Arguments after `tandem`. */
  readonly args: readonly string[]
  /** Called when it ended without being stopped. */
  readonly onDeath: (ended: Ended) => void
}

/**
 * Node in a separate process: started, paused, stopped and restarted. Its log is written directly to a file. It shares the process
 * group, so a terminal's Ctrl-Z halts all, and it ends when the channel to this process closes, for whatever reason.
 */
export class NodeProcess {
  readonly #options: NodeProcessOptions
  #child: ChildProcess | undefined
  #exited: Promise<unknown> = Promise.resolve()
  #state: ProcessState = 'stopped'

  constructor(options: NodeProcessOptions) {
    this.#options = options
  }

  get state(): ProcessState {
    return this.#state
  }

  /** undefined while there is none. */
  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** Resolves with its ready line; undefined when it ended before. */
  start(): Promise<NodeUrls | undefined> {
    const { plan, args, onDeath } = this.#options
    const log = openLog(logFileOf(plan))
    const flags = process.execArgv.filter(flag => !flag.startsWith('--inspect'))
    // A program of one file is its own Node, with the flags in it.
    const command = isSea() ? args : [...flags, process.argv[1] as string, ...args]
    // Options that this command was given by the environment are no options of its nodes.
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('TANDEM_')))
    const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', log, 'ipc'], env })
    closeSync(log)
    this.#child = child
    this.#state = 'starting'
    const lines = createInterface({ input: child.stdout as NonNullable<typeof child.stdout> })
    return new Promise(resolve => {
      lines.on('line', line => {
        if (this.#child !== child || this.#state !== 'starting' || !line.startsWith('{"ready"')) return
        this.#state = 'running'
        resolve(JSON.parse(line) as NodeUrls)
      })
      this.#exited = new Promise<void>(gone => {
        const ended = (code: number | null, signal: NodeJS.Signals | null): void => {
          const isExpected = this.#state === 'stopped'
          this.#child = undefined
          if (!isExpected) this.#state = 'dead'
          resolve(undefined)
          gone()
          if (!isExpected) onDeath({ code, signal })
        }
        child.once('exit', ended)
        // The process could not be created, so there is no exit event.
        child.once('error', () => {
          if (child.pid === undefined) ended(null, null)
        })
      })
    })
  }

  pause(): void {
    if (this.#state !== 'running') return
    this.#state = 'paused'
    this.#child?.kill('SIGSTOP')
  }

  resume(): void {
    if (this.#state !== 'paused') return
    this.#state = 'running'
    this.#child?.kill('SIGCONT')
  }

  /** Resolves when the process has ended; it is killed `withinMs` after the signal. Returns true when that was needed. */
  async stop(signal: 'SIGTERM' | 'SIGKILL', withinMs: number = LOCALNET_LIMITS.stopMs): Promise<boolean> {
    const child = this.#child
    if (child === undefined) return false
    this.#state = 'stopped'
    child.kill(signal)
    // A paused process handles no other signal.
    child.kill('SIGCONT')
    let wasKilled = false
    const timer = setTimeout(() => {
      wasKilled = child.kill('SIGKILL')
    }, withinMs)
    await this.#exited
    clearTimeout(timer)
    return wasKilled
  }

  /** Returns the last lines of its log. */
  tail(): readonly string[] {
    return tailOf(logFileOf(this.#options.plan))
  }
}

/** Opens the log for appending; a long one is renamed first. */
const openLog = (path: string): number => {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size > LOCALNET_LIMITS.logBytes) renameSync(path, `${path}.old`)
  return openSync(path, 'a', 0o600)
}

/** Returns the last lines of a file, limited to the part at its end that is read. */
export const tailOf = (path: string): readonly string[] => {
  const { tailBytes, tailLines } = LOCALNET_LIMITS
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size === 0) return []
  const file = openSync(path, 'r')
  try {
    const buffer = Buffer.alloc(Math.min(size, tailBytes))
    const from = size - buffer.byteLength
    const read = readSync(file, buffer, 0, buffer.byteLength, from)
    const lines = buffer.toString('utf8', 0, read).split('\n')
    // The first line may be incomplete.
    if (from > 0) lines.shift()
    return lines.filter(line => line !== '').slice(-tailLines)
  } finally {
    closeSync(file)
  }
}
