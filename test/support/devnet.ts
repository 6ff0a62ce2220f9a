import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Hex } from '@tandem/base/bytes.ts'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** Launcher of the source as written. */
export const SOURCE_LAUNCHER = join(ROOT, 'bin', 'tandem.mjs')
/** Launcher of the command: that of the folder BUILD, which tests of processes build (build.ts), or of the source. */
export const LAUNCHER = join(resolve(ROOT, process.env['BUILD'] ?? ''), 'bin', 'tandem.mjs')

export interface ReadyLine {
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

export interface RunningNode extends ReadyLine {
  readonly process: ChildProcess
  /** Everything it wrote so far, for messages of failing tests. */
  output(): string
  rpc<T = unknown>(method: string, params?: readonly unknown[]): Promise<T>
  /** SIGINT, or another signal, and wait; answers the exit code and how long it took. */
  stop(stopSignal?: NodeJS.Signals): Promise<{ code: number | null; ms: number }>
  kill(): Promise<void>
}

export interface RpcFailure extends Error {
  readonly rpcCode: number
  readonly data?: unknown
}

/** One JSON-RPC call; throws an Error with `rpcCode` for an error answer. */
export const rpc = async <T>(url: string, method: string, params: readonly unknown[] = []): Promise<T> => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const answer = (await response.json()) as { result: T; error?: { code: number; message: string; data?: unknown } }
  if (answer.error) {
    throw Object.assign(new Error(answer.error.message), { rpcCode: answer.error.code, data: answer.error.data })
  }
  return answer.result
}

/** Adds the loopback and a free port to `tandem start` when no peer port is given. */
export const onLoopback = (args: readonly string[]): readonly string[] =>
  args[0] !== 'start' || args.includes('--p2p-port')
    ? args
    : [...args, '--p2p-host', '127.0.0.1', '--p2p-port', '0', '--no-discovery']

/** Starts the real process, in shadow mode unless the arguments say otherwise, and waits for its ready line. */
export const startNode = async (command: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<RunningNode> => {
  const args = command.includes('--execution') ? command : [...command, '--execution', 'shadow']
  const child = spawn(process.execPath, [LAUNCHER, ...onLoopback(args), '--json'], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: string[] = []
  // A test that is cut short leaves no node behind.
  const end = () => child.kill('SIGKILL')
  process.once('exit', end)
  // Its last lines may come after its exit.
  const exited = new Promise<number | null>(resolve => child.once('close', code => resolve(code)))
  void exited.then(() => process.off('exit', end))
  child.stderr.on('data', data => lines.push(String(data)))
  const ready = await new Promise<ReadyLine>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', line => {
      lines.push(line)
      if (line.startsWith('{"ready"')) resolve(JSON.parse(line) as ReadyLine)
    })
    child.once('close', code => reject(new Error(`the node ended with ${code}:\n${lines.join('\n')}`)))
  })
  return {
    ...ready,
    process: child,
    output: () => lines.join('\n'),
    rpc: (method, params) => rpc(ready.http, method, params),
    stop: async (stopSignal = 'SIGINT') => {
      const began = performance.now()
      child.kill(stopSignal)
      return { code: await exited, ms: performance.now() - began }
    },
    kill: async () => {
      child.kill('SIGKILL')
      await exited
    },
  }
}

/** A devnet on a free port. */
export const startDevnet = (options: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Promise<RunningNode> =>
  startNode(['devnet', ...(options.includes('--port') ? [] : ['--port', '0']), ...options], env)

/** Longest wait for something that must come: only a test that fails waits for it, on a machine of any speed. */
export const PATIENCE_MS = 120_000

/** Asks until the answer is wanted; answers it, or throws with the last one. */
export const eventually = async <T>(
  what: string,
  ask: () => Promise<T>,
  wanted: (answer: T) => boolean,
  ms = PATIENCE_MS,
): Promise<T> => {
  const deadline = performance.now() + ms
  for (;;) {
    const answer = await ask()
    if (wanted(answer)) return answer
    if (performance.now() > deadline) throw new Error(`${what}: not within ${ms} ms, last ${JSON.stringify(answer)}`)
    await new Promise(resolve => setTimeout(resolve, 25))
  }
}

/** A folder that goes when the callback ends. */
export const withTempDir = async <T>(fn: (dir: string) => Promise<T>): Promise<T> => {
  const dir = mkdtempSync(join(tmpdir(), 'tandem-test-'))
  try {
    return await fn(dir)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
