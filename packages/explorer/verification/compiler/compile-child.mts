import { createRequire } from 'node:module'
import { setFlagsFromString } from 'node:v8'

/*
 * One compilation, in a process that may read this file and the compiler, and nothing else. Standard JSON comes by standard input, and the
 * parts of the output that are compared go to standard output. It imports nothing of the project, which it could not read.
 */

/** The compiler's file, as emscripten exports it. */
interface Soljson {
  cwrap(
    name: string,
    result: string,
    parameters: readonly string[],
  ): (input: string, callback: number, context: number) => string
  readonly _solidity_compile?: unknown
}

interface Code {
  readonly object?: string
  readonly linkReferences?: object
  readonly immutableReferences?: object
}

interface CompiledUnit {
  readonly abi?: readonly unknown[]
  readonly metadata?: string
  readonly evm?: { readonly bytecode?: Code; readonly deployedBytecode?: Code; readonly legacyAssembly?: unknown }
}

interface CompilerOutput {
  readonly errors?: readonly {
    readonly severity: string
    readonly formattedMessage?: string
    readonly message: string
  }[]
  readonly contracts?: Readonly<Record<string, Readonly<Record<string, CompiledUnit>>>>
}

const MESSAGES = 5
const MESSAGE_CHARACTERS = 1_000

const readInput = async (): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

/** Every metadata section that the assembly places, of the contract and of those it creates. */
const metadataSections = (assembly: unknown, found = new Set<string>()): Set<string> => {
  if (typeof assembly !== 'object' || assembly === null) return found
  for (const [name, value] of Object.entries(assembly)) {
    if (name === '.auxdata' && typeof value === 'string') found.add(value)
    else if (name === '.data' && typeof value === 'object' && value !== null)
      for (const part of Object.values(value)) metadataSections(part, found)
  }
  return found
}

const codeOf = (code: Code | undefined): object => ({
  object: code?.object ?? '',
  linkReferences: code?.linkReferences ?? {},
  immutableReferences: code?.immutableReferences ?? {},
})

/** The contracts of a name, in whichever file when none is given. */
const unitsOf = (output: CompilerOutput, file: string | null, name: string) =>
  Object.entries(output.contracts ?? {}).flatMap(([path, units]) => {
    const unit = (file === null || file === path) && Object.hasOwn(units, name) ? units[name] : undefined
    return unit === undefined ? [] : [{ path, unit }]
  })

const answerOf = (output: CompilerOutput, file: string | null, name: string): object => {
  const errors = (output.errors ?? []).filter(({ severity }) => severity === 'error')
  if (errors.length > 0)
    return {
      errors: errors
        .slice(0, MESSAGES)
        .map(({ formattedMessage, message }) => (formattedMessage ?? message).slice(0, MESSAGE_CHARACTERS)),
    }
  return {
    units: unitsOf(output, file, name).map(({ path, unit }) => ({
      path,
      name,
      abi: unit.abi ?? [],
      metadata: unit.metadata ?? '',
      creation: codeOf(unit.evm?.bytecode),
      runtime: codeOf(unit.evm?.deployedBytecode),
      metadataSections: [...metadataSections(unit.evm?.legacyAssembly)],
    })),
  }
}

// The shell that limits this process adds variables of its own.
for (const variable of Object.keys(process.env)) delete process.env[variable]
const [compiler, file, name, wasmPages] = JSON.parse(process.argv.at(-1) as string) as [
  string,
  string | null,
  string,
  number,
]
setFlagsFromString(`--wasm-max-mem-pages=${wasmPages}`)
const soljson = createRequire(import.meta.url)(compiler) as Soljson
// Null pointers: no callback that reads imports. Older versions take fewer arguments and leave the others.
const compile = soljson.cwrap(
  soljson._solidity_compile === undefined ? 'compileStandard' : 'solidity_compile',
  'string',
  ['string', 'number', 'number'],
)
void readInput().then(input => {
  const answer = JSON.stringify(answerOf(JSON.parse(compile(input, 0, 0)) as CompilerOutput, file, name))
  process.stdout.write(answer, () => process.exit(0))
})
