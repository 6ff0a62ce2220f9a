import { type ChildProcess, spawn } from 'node:child_process'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Hex } from '@tandem/base/bytes.ts'
import { claimPortBlock } from '../../src/cli/localnet/ports.ts'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** Launcher of the source as written. */
export const SOURCE_LAUNCHER = join(ROOT, 'bin', 'tandem.mjs')
/** Launcher of the command: that of the folder BUILD, which tests of processes build (build.ts), or of the source. */
export const LAUNCHER = join(resolve(ROOT, process.env['BUILD'] ?? ''), 'bin', 'tandem.mjs')

/** Ready line of a command. */
export interface Ready {
  readonly ready: true
  readonly http: string
  readonly ws: string
  /** The loopback port with every namespace, of `tandem start`. */
  readonly operator?: string
  readonly metrics?: string
  readonly explorer?: string
  readonly pages?: string
  readonly faucet?: string
  readonly stratum?: string
  /** tandem:// of `tandem start`. */
  readonly peer?: string
  readonly chainId: number
  readonly genesisHash: Hex
  readonly accounts: readonly { readonly address: Hex; readonly privateKey: Hex }[]
}

/** Longest wait for something that must come: only a test that fails waits for it, on a machine of any speed. */
export const PATIENCE_MS = 120_000

/** The real process, from its first moment: it may be killed before it is ready. */
export interface NodeProcess {
  readonly child: ChildProcess
  /** Its ready line; rejects when it ends before. */
  readonly ready: Promise<Ready>
  /** Exit code, null after a signal. */
  readonly exited: Promise<number | null>
  stdout(): string
  stderr(): string
  /** SIGKILL, and waits until it is gone. */
  kill(): Promise<void>
  /** Sends a signal and does not wait. */
  signal(signal: NodeJS.Signals): void
  /** Another signal, and waits; a process that does not end within `withinMs` is killed and answers 'stuck'. */
  end(
    signal: NodeJS.Signals,
    withinMs?: number,
  ): Promise<{ readonly code: number | null | 'stuck'; readonly ms: number }>
}

export interface SpawnOptions {
  /** false: text for people on both outputs. */
  readonly json?: boolean
  readonly env?: NodeJS.ProcessEnv
  /** No file may grow beyond this. */
  readonly fileKilobytes?: number
  /** A program that runs it, with its arguments. */
  readonly before?: readonly string[]
}

/** Adds the loopback and a free port to `tandem start` when no peer port is given. */
const onLoopback = (args: readonly string[]): readonly string[] =>
  args[0] !== 'start' || args.includes('--p2p-port')
    ? args
    : [...args, '--p2p-host', '127.0.0.1', '--p2p-port', '0', '--no-discovery']

/** `args` after `tandem`. */
export const spawnNode = (
  args: readonly string[],
  { json = true, env = {}, fileKilobytes, before = [] }: SpawnOptions = {},
): NodeProcess => {
  // A package has no devtools, nor modules that a preload of a test could replace.
  const needsSource = args.includes('--chaos') || env['NODE_OPTIONS'] !== undefined
  const launcher = needsSource ? SOURCE_LAUNCHER : LAUNCHER
  const command = [...before, process.execPath, launcher, ...onLoopback(args), ...(json ? ['--json'] : [])]
  // bash counts in kilobytes, and is replaced by the node.
  const limited = ['-c', `ulimit -f ${fileKilobytes}; exec "$0" "$@"`, ...command]
  const [program, ...rest] = fileKilobytes === undefined ? command : ['bash', ...limited]
  const child = spawn(program as string, rest, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own: whatever it starts is killed with it.
    detached: true,
  })
  const signal = (name: NodeJS.Signals): void => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) process.kill(-child.pid, name)
  }
  const killGroup = (): void => signal('SIGKILL')
  const out: string[] = []
  const err: string[] = []
  const exited = new Promise<number | null>(resolve => child.once('close', code => resolve(code)))
  // A test that is cut short leaves no node behind.
  process.once('exit', killGroup)
  void exited.then(() => process.off('exit', killGroup))
  child.stderr.on('data', data => err.push(String(data)))
  const ready = new Promise<Ready>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', line => {
      out.push(`${line}\n`)
      if (line.startsWith('{"ready"')) resolve(JSON.parse(line) as Ready)
    })
    // Commands with --json say on stdout why they end.
    child.once('close', code =>
      reject(new Error(`the node ended with ${code}: ${err.join('')}${out.slice(-5).join('')}`)),
    )
  })
  // A test that kills the node before it is ready does not wait for this promise.
  ready.catch(() => undefined)
  const kill = async (): Promise<void> => {
    killGroup()
    await exited
  }
  return {
    child,
    ready,
    exited,
    stdout: () => out.join(''),
    stderr: () => err.join(''),
    kill,
    signal,
    async end(signal, withinMs = PATIENCE_MS) {
      const began = performance.now()
      child.kill(signal)
      const late = new Promise<'stuck'>(resolve => setTimeout(resolve, withinMs, 'stuck').unref())
      const code = await Promise.race([exited, late])
      if (code === 'stuck') await kill()
      return { code, ms: performance.now() - began }
    },
  }
}

/** Ports of one claimed block: all but the last, which this process holds itself. */
const PORTS_AT_ONCE = 9
const claimed: number[] = []

/** A port that no other test has, in this process or another one, for tests that must know it before the node does. */
export const freePort = async (): Promise<number> => {
  if (claimed.length === 0) {
    const first = await claimPortBlock('127.0.0.1')
    claimed.push(...Array.from({ length: PORTS_AT_ONCE }, (_, index) => first + index))
  }
  return claimed.pop() as number
}

export const sleep = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))

/** Asks again and again until the answer is not undefined. */
export const eventually = async <T>(
  what: string,
  ask: () => Promise<T | undefined>,
  { withinMs = PATIENCE_MS, everyMs = 25 }: { readonly withinMs?: number; readonly everyMs?: number } = {},
): Promise<T> => {
  const deadline = performance.now() + withinMs
  for (;;) {
    const answer = await ask()
    if (answer !== undefined) return answer
    if (performance.now() > deadline) throw new Error(`${what}: not within ${withinMs} ms`)
    await sleep(everyMs)
  }
}
