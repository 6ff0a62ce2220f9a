import { createHash, randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { deserialize, serialize } from 'node:v8'

/*
 * The npm compiler, which takes a second of processor time to load and as long to compile a test contract: what it said once is kept for
 * the other test files. `npm ci` removes the folder with the packages.
 */

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const FOLDER = join(ROOT, 'node_modules', '.cache', 'compiled-contracts')

interface Solc {
  version(): string
  compile(input: string, callbacks?: { readonly import: (path: string) => { readonly contents: string } }): string
}

/** Reads a source that another imports, from an npm package. */
const readImport = (path: string) => ({ contents: readFileSync(join(ROOT, 'node_modules', path), 'utf8') })

/** File of what is kept for a text and these packages, whose versions decide what is compiled by what. */
const fileOf = (text: string): string => {
  const packages = readFileSync(join(ROOT, 'package-lock.json'))
  return join(FOLDER, createHash('sha256').update(packages).update(text).digest('hex'))
}

const read = <T>(file: string): T | undefined => (existsSync(file) ? (deserialize(readFileSync(file)) as T) : undefined)

const write = (file: string, value: unknown): void => {
  mkdirSync(FOLDER, { recursive: true })
  // Whole or not there, also for a test file that reads it at this moment.
  const own = `${file}.${randomUUID()}`
  writeFileSync(own, serialize(value))
  renameSync(own, file)
}

/** Returns what the compiler said the first time, for this text and these packages. */
const kept = (text: string, ask: (solc: Solc) => string): string => {
  const file = fileOf(text)
  const before = read<string>(file)
  if (before !== undefined) return before
  const said = ask(createRequire(import.meta.url)('solc') as Solc)
  write(file, said)
  return said
}

/** Returns what `make` gave the first time, for this text and these packages; a value that threads could exchange. */
export const keptValue = async <T>(text: string, make: () => Promise<T>): Promise<T> => {
  const file = fileOf(text)
  const value = read<T>(file) ?? (await make())
  if (!existsSync(file)) write(file, value)
  return value
}

/** Compiles standard JSON, whose sources may import from npm packages. */
export const compileJson = (input: string): string => kept(input, solc => solc.compile(input, { import: readImport }))

export const solcVersion = (): string => kept('version', solc => solc.version())
