import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { setPriority } from 'node:os'
import { isAbsolute } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hexToBytes } from '@tandem/base/bytes.ts'
import { ownCommand } from '@tandem/base/own-files.ts'
import { EXPLORER_LIMITS } from '../../limits.ts'
import type { ContractIdentifier, SourceInput } from '../input/standard-input.ts'
import type { CodeRange, CompiledCode, CompiledContract } from '../match/compiled-contract.ts'
import { refuseVerification } from '../verification-error.ts'
import type { CompilerBuild } from './compiler-list.ts'

const CHILD = new URL('./compile-child.mts', import.meta.url)

/** Parts of the compiler's output that the comparison needs. */
const OUTPUTS = [
  'abi',
  'metadata',
  'evm.bytecode.object',
  'evm.bytecode.linkReferences',
  'evm.deployedBytecode.object',
  'evm.deployedBytecode.linkReferences',
  'evm.deployedBytecode.immutableReferences',
  'evm.legacyAssembly',
]

const LOW_PRIORITY = 10

interface CompileLimits {
  readonly compileCpuSeconds: number
  readonly compileMs: number
  readonly outputBytes: number
  readonly heapMegabytes: number
  readonly wasmPages: number
}

/** Can a process be kept from files and network? Node restricts the network since version 25. */
const canSandbox = (): boolean =>
  process.allowedNodeEnvironmentFlags.has('--permission') && process.allowedNodeEnvironmentFlags.has('--allow-net')

/**
 * Compiles in a process of its own, which can read its own file and the compiler's alone: no other file, no network, no process, no thread.
 * It is killed when it takes too long or says too much. Throws COMPILER_FAILED with the compiler's words, UNAVAILABLE.
 */
export const compileContracts = async (
  build: CompilerBuild,
  input: SourceInput,
  { path, name }: ContractIdentifier,
  limits: CompileLimits = EXPLORER_LIMITS.verification,
): Promise<readonly CompiledContract[]> => {
  if (!canSandbox())
    throw refuseVerification('UNAVAILABLE', 'sources cannot be compiled safely with this version of Node.js; use 26')
  const settings = { ...input.settings, outputSelection: { [path ?? '*']: { [name]: OUTPUTS } } }
  const text = await runChild(
    [build.file, path, name, limits.wasmPages],
    JSON.stringify({ language: input.language, sources: input.sources, settings }),
    limits,
  )
  return readAnswer(text)
}

const failed = (message: string) => refuseVerification('COMPILER_FAILED', message)

/** In the environment, from where the executable of one file takes flags too. */
const flagsOf = (compiler: string, { heapMegabytes }: CompileLimits): string =>
  [
    '--permission',
    `--allow-fs-read=${fileURLToPath(CHILD)}`,
    `--allow-fs-read=${compiler}`,
    `--max-old-space-size=${heapMegabytes}`,
    '--no-warnings',
  ]
    .map(flag => `"${flag.replaceAll(/["\\]/g, '\\$&')}"`)
    .join(' ')

const runChild = (task: readonly unknown[], input: string, limits: CompileLimits): Promise<string> =>
  new Promise((resolve, reject) => {
    const [compiler] = task as [string]
    const child = spawn(...limitedCommand(limits.compileCpuSeconds, [...ownCommand(CHILD), JSON.stringify(task)]), {
      env: { NODE_OPTIONS: flagsOf(compiler, limits) },
      stdio: ['pipe', 'pipe', 'ignore'],
      windowsHide: true,
    })
    const chunks: Buffer[] = []
    let bytes = 0
    let reason: string | undefined
    const kill = (why: string): void => {
      reason ??= why
      child.kill('SIGKILL')
    }
    const timer = setTimeout(() => kill(tooLong(limits.compileMs / 1_000)), limits.compileMs)
    child.on('spawn', () => lowerPriority(child.pid))
    child.on('error', cause => reject(notStarted(cause)))
    child.stdin.on('error', () => {})
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > limits.outputBytes) kill(`the compiler's output has more than ${limits.outputBytes} bytes`)
      else chunks.push(chunk)
    })
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      if (signal === 'SIGXCPU') reason ??= tooLong(limits.compileCpuSeconds)
      if (reason !== undefined) reject(failed(reason))
      else if (code !== 0) reject(refusalOfEnd(code ?? signal, compiler))
      else resolve(Buffer.concat(chunks).toString('utf8'))
    })
    child.stdin.end(input)
  })

const notStarted = (cause: Error) =>
  refuseVerification(
    'UNAVAILABLE',
    "the compiler could not be started: were the node's files replaced? restart the node",
    { cause },
  )

/** Exit codes of a shell that cannot run its program. */
const NOT_RUN: ReadonlySet<unknown> = new Set([126, 127])
/** Ends of a compiler that has no memory or no stack left: an error that nothing caught, or by the system. */
const EXHAUSTED: ReadonlySet<unknown> = new Set([1, 'SIGABRT', 'SIGKILL', 'SIGSEGV', 'SIGTRAP'])

/** Refusal of a process that ended by itself, with an exit code or a signal. */
const refusalOfEnd = (end: number | NodeJS.Signals | null, compiler: string) => {
  const cause = new Error(`the compiler ended with ${end}`)
  if (
    NOT_RUN.has(end) ||
    ownCommand(CHILD).some(path => isAbsolute(path) && !existsSync(path)) ||
    !existsSync(compiler)
  )
    return notStarted(cause)
  if (EXHAUSTED.has(end))
    return failed('the compiler stopped: the sources need too much memory, or are nested too deep')
  return refuseVerification('COMPILER_FAILED', "the compiler stopped; the explorer's log has its exit code", { cause })
}

const tooLong = (seconds: number): string => `compiling took longer than ${seconds} s`

const SHELL = '/bin/sh'

/**
 * Program and arguments that run a command which the system ends after so much processor time. Only the shell can set that limit: a system
 * without one has the limit of elapsed time alone, which a busy machine would reach without compiling.
 */
const limitedCommand = (seconds: number, command: readonly string[]): [program: string, args: string[]] => {
  const [program, ...args] = command as [string, ...string[]]
  if (!existsSync(SHELL)) return [program, args]
  return [SHELL, ['-c', 'ulimit -c 0; ulimit -S -t "$0"; exec "$@"', String(seconds), program, ...args]]
}

const lowerPriority = (pid: number | undefined): void => {
  try {
    if (pid !== undefined) setPriority(pid, LOW_PRIORITY)
  } catch {
    // It ended already.
  }
}

interface ChildCode {
  readonly object: string
  readonly linkReferences: Readonly<Record<string, Readonly<Record<string, readonly CodeRange[]>>>>
  readonly immutableReferences: Readonly<Record<string, readonly CodeRange[]>>
}

interface ChildAnswer {
  readonly errors?: readonly string[]
  readonly units?: readonly (Pick<CompiledContract, 'path' | 'name' | 'abi' | 'metadata'> & {
    readonly creation: ChildCode
    readonly runtime: ChildCode
    readonly metadataSections: readonly string[]
  })[]
}

const readAnswer = (text: string): readonly CompiledContract[] => {
  const { errors, units = [] } = JSON.parse(text) as ChildAnswer
  if (errors !== undefined) throw failed(`the sources do not compile: ${errors.join('\n').trim()}`)
  return units
    .filter(({ runtime }) => runtime.object !== '')
    .map(({ creation, runtime, metadataSections, ...unit }) => ({
      ...unit,
      creation: codeOf(creation),
      runtime: codeOf(runtime),
      metadataSections: metadataSections.map(section => hexToBytes(`0x${section}`)),
    }))
}

/** Places of libraries hold a name; what stands there is not compared. */
const NO_DIGIT = /[^0-9a-f]/g

const codeOf = ({ object, linkReferences, immutableReferences }: ChildCode): CompiledCode => ({
  code: hexToBytes(`0x${object.replaceAll(NO_DIGIT, '0')}`),
  links: new Map(
    Object.entries(linkReferences).flatMap(([file, names]) =>
      Object.entries(names).map(([name, ranges]) => [`${file}:${name}`, ranges] as const),
    ),
  ),
  immutables: new Map(Object.entries(immutableReferences)),
})
