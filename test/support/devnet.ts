import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type NodeProcess, PATIENCE_MS, type Ready, spawnNode } from './node-process.ts'

export interface RunningNode extends Ready {
  readonly process: ChildProcess
  /** Everything it wrote so far, for messages of failing tests. */
  output(): string
  rpc<T = unknown>(method: string, params?: readonly unknown[]): Promise<T>
  /** SIGINT, or another signal, and wait; answers the exit code and how long it took. */
  stop(stopSignal?: NodeJS.Signals): ReturnType<NodeProcess['end']>
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

/** Starts the real process, in shadow mode unless the arguments say otherwise, and waits for its ready line. */
export const startNode = async (command: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<RunningNode> => {
  const args = command.includes('--execution') ? command : [...command, '--execution', 'shadow']
  const { child, ready, stdout, stderr, kill, end } = spawnNode(args, { env })
  const told = await ready
  return {
    ...told,
    process: child,
    output: () => stderr() + stdout(),
    rpc: (method, params) => rpc(told.http, method, params),
    stop: (stopSignal = 'SIGINT') => end(stopSignal),
    kill,
  }
}

/** A devnet on a free port. */
export const startDevnet = (options: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Promise<RunningNode> =>
  startNode(['devnet', ...(options.includes('--port') ? [] : ['--port', '0']), ...options], env)

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
