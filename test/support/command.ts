import { spawn } from 'node:child_process'
import { chmodSync, cpSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { LAUNCHER, ROOT } from './node-process.ts'

export interface CommandResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  readonly ms: number
}

interface CommandOptions {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  readonly input?: string
  /** After this the process is killed and `code` is null. */
  readonly timeoutMs?: number
  /** User to run as; only root may choose. */
  readonly uid?: number
  readonly gid?: number
}

/** Runs a program to its end; answers what it wrote, whatever its status. */
export const run = async (
  program: string,
  args: readonly string[],
  { cwd = ROOT, env, input = '', timeoutMs = 170_000, ...user }: CommandOptions = {},
): Promise<CommandResult> => {
  const began = performance.now()
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, ...env },
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
    ...user,
  })
  const out: Buffer[] = []
  const err: Buffer[] = []
  child.stdout.on('data', (data: Buffer) => out.push(data))
  child.stderr.on('data', (data: Buffer) => err.push(data))
  child.stdin.on('error', () => child.stdin.destroy())
  child.stdin.end(input)
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  const text = (chunks: readonly Buffer[]) => Buffer.concat(chunks).toString('utf8')
  return { code, stdout: text(out), stderr: text(err), ms: performance.now() - began }
}

/** The command of this project, as a user types it. */
export const tandem = (args: readonly string[], options: CommandOptions = {}): Promise<CommandResult> =>
  run(process.execPath, [LAUNCHER, ...args], options)

/** Copies one of `test/e2e/projects` into a folder of its own, so that what its tools write goes with it. */
export const copyProject = (name: string, dir: string): void => {
  cpSync(join(ROOT, 'test', 'e2e', 'projects', name), dir, { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'), 'dir')
}

/** A program in `dir` that answers as the native solc would; returns its path. */
export const writeSolcWrapper = (dir: string): string => {
  const path = join(dir, 'solc')
  const script = fileURLToPath(new URL('solc-command.ts', import.meta.url))
  writeFileSync(path, `#!/bin/sh\nexec '${process.execPath}' '${script}' "$@"\n`)
  chmodSync(path, 0o755)
  return path
}
