import { EXPLORER_LIMITS } from '../../limits.ts'
import { refuseVerification } from '../verification-error.ts'

/** Settings that change the code or its metadata. */
interface CompilerSettings {
  readonly optimizer?: { readonly enabled?: boolean; readonly runs?: number; readonly details?: object }
  readonly evmVersion?: string
  readonly viaIR?: boolean
  readonly metadata?: object
  readonly libraries?: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly remappings?: readonly string[]
  readonly debug?: { readonly revertStrings: string }
}

/** Standard JSON input, with what verification uses of it. */
export interface SourceInput {
  readonly language: 'Solidity'
  readonly sources: Readonly<Record<string, { readonly content: string }>>
  readonly settings: CompilerSettings
}

const {
  sourceBytes,
  sources: maxSources,
  remappings: maxRemappings,
  settingDepth,
  pathChars,
} = EXPLORER_LIMITS.verification

const refuse = (message: string) => refuseVerification('INVALID_INPUT', message)

type Fields = Readonly<Record<string, unknown>>
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Parses standard JSON input; drops what changes neither code nor metadata. Throws INVALID_INPUT. */
export const parseStandardInput = (text: string): SourceInput => {
  if (Buffer.byteLength(text) > sourceBytes) throw refuse(`the sources have more than ${sourceBytes} bytes`)
  try {
    return standardInput(JSON.parse(text))
  } catch (error) {
    if (error instanceof SyntaxError) throw refuse('the standard JSON input is not JSON')
    throw error
  }
}

/** Checks parsed standard JSON input; drops what changes neither code nor metadata. Throws INVALID_INPUT. */
export const standardInput = (input: unknown): SourceInput => {
  if (!isFields(input)) throw refuse('the standard JSON input is not an object')
  if (input['language'] !== 'Solidity') throw refuse('the language must be Solidity')
  return { language: 'Solidity', sources: sourcesOf(input['sources']), settings: settingsOf(input['settings'] ?? {}) }
}

/** Control characters have no place in the path of a source. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const BAD_PATH = /[\u0000-\u001f\u007f]/

const sourcesOf = (given: unknown): SourceInput['sources'] => {
  const entries = isFields(given) ? Object.entries(given) : []
  if (entries.length === 0) throw refuse('the input has no sources')
  if (entries.length > maxSources) throw refuse(`the input has more than ${maxSources} sources`)
  const sources: Record<string, { content: string }> = Object.create(null)
  for (const [path, source] of entries) {
    if (path.length > pathChars || BAD_PATH.test(path)) throw refuse('a path of a source is not valid')
    if (!isFields(source) || typeof source['content'] !== 'string')
      throw refuse(`source ${path} has no content: the text itself must be submitted, not its URL`)
    sources[path] = { content: source['content'] }
  }
  return sources
}

const settingsOf = (given: unknown): CompilerSettings => {
  if (!isFields(given)) throw refuse('settings is not an object')
  const { optimizer, evmVersion, viaIR, metadata, libraries, remappings, debug } = given
  for (const [name, setting] of Object.entries({ optimizer, metadata, libraries }))
    if (!isNestedAtMost(setting, settingDepth)) throw refuse(`the setting ${name} is nested too deep`)
  const revertStrings = isFields(debug) ? debug['revertStrings'] : undefined
  return {
    ...(isFields(optimizer) && { optimizer: optimizer as object }),
    ...(typeof evmVersion === 'string' && { evmVersion }),
    ...(typeof viaIR === 'boolean' && { viaIR }),
    ...(isFields(metadata) && { metadata }),
    ...(isFields(libraries) && { libraries: libraries as NonNullable<CompilerSettings['libraries']> }),
    ...(Array.isArray(remappings) && { remappings: remappingsOf(remappings) }),
    ...(typeof revertStrings === 'string' && { debug: { revertStrings } }),
  }
}

/** Has a value at most so many objects and arrays inside of each other? A JSON text may have hundreds of thousands. */
const isNestedAtMost = (value: unknown, levels: number): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (levels > 0 && Object.values(value).every(inner => isNestedAtMost(inner, levels - 1)))

const remappingsOf = (given: readonly unknown[]): readonly string[] => {
  if (given.length > maxRemappings) throw refuse(`settings has more than ${maxRemappings} remappings`)
  if (!given.every(item => typeof item === 'string')) throw refuse('a remapping is not a text')
  return given
}

/** Contract named as `file:name`, or by its name alone. */
export interface ContractIdentifier {
  /** null: in whichever file. */
  readonly path: string | null
  readonly name: string
}

/** Throws INVALID_INPUT. */
export const parseIdentifier = (text: string, { sources }: SourceInput): ContractIdentifier => {
  const colon = text.lastIndexOf(':')
  const path = colon < 0 ? null : text.slice(0, colon)
  const name = text.slice(colon + 1)
  if (!/^[A-Za-z_$][A-Za-z0-9_$]{0,254}$/.test(name)) throw refuse('the contract must be named, as src/Token.sol:Token')
  if (path !== null && !Object.hasOwn(sources, path))
    throw refuse(`the input has no source ${path.slice(0, pathChars)}`)
  return { path, name }
}

interface SingleFile {
  readonly source: string
  readonly name: string
  readonly optimizerRuns: number | undefined
  readonly evmVersion: string | undefined
  readonly viaIR: boolean
  readonly libraries: Readonly<Record<string, string>>
}

/** Standard JSON input of one flattened source. */
export const singleFileInput = ({
  source,
  name,
  optimizerRuns,
  evmVersion,
  viaIR,
  libraries,
}: SingleFile): SourceInput => {
  const path = `${name.slice(name.lastIndexOf(':') + 1).slice(0, pathChars)}.sol`
  if (Buffer.byteLength(source) > sourceBytes) throw refuse(`the source has more than ${sourceBytes} bytes`)
  return standardInput({
    language: 'Solidity',
    sources: { [path]: { content: source } },
    settings: {
      optimizer: optimizerRuns === undefined ? { enabled: false } : { enabled: true, runs: optimizerRuns },
      ...(evmVersion !== undefined && { evmVersion }),
      ...(viaIR && { viaIR }),
      ...(Object.keys(libraries).length > 0 && { libraries: { [path]: libraries } }),
    },
  })
}
