import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { bytesToHex, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { commonErrorAbi, type ErrorAbi } from '@tandem/base/solidity-errors.ts'

/** Largest revert data that is decoded, largest artifact that is read, and most artifacts of a folder. */
const DATA_BYTES = 16 * 1024
const FILE_BYTES = 16 * 1024 * 1024
const FILES = 10_000

/** Text of the custom error in revert data; undefined when it is unknown. */
export type ErrorTexts = (data: Hex) => Promise<string | undefined>

/**
 * Decodes errors of common libraries, and those of a folder of ABIs or compiler artifacts (`devnet --abi`). The folder is read when an error
 * is not known, so that contracts compiled meanwhile are found.
 */
export const createErrorTexts = (folder: string | undefined): ErrorTexts => {
  const known = new Map<string, readonly ErrorAbi[]>([['', commonErrorAbi()]])
  return async data => {
    if (data.length > 2 * DATA_BYTES) return undefined
    const found = await decoded(data, [...known.values()].flat())
    if (found !== undefined || folder === undefined) return found
    await readFolder(folder, known)
    return decoded(data, [...known.values()].flat())
  }
}

const decoded = async (data: Hex, abi: readonly ErrorAbi[]): Promise<string | undefined> => {
  const { decodeError } = await import('micro-eth-signer/abi.js')
  // Without names, so that the values come as a list.
  const unnamed = abi.map(({ inputs, ...entry }) => ({ ...entry, inputs: inputs.map(withoutName) }))
  try {
    const error = decodeError(hexToBytes(data), unnamed)
    if (error === undefined) return undefined
    const values =
      (unnamed.find(entry => error.signature.startsWith(`${entry.name}(`))?.inputs.length ?? 0) === 1
        ? [error.args]
        : error.args
    return `${error.name}(${Array.isArray(values) ? values.map(textOf).join(', ') : ''})`
  } catch {
    // Data of another error with the same selector, or cut short.
    return undefined
  }
}

const withoutName = (input: object): { readonly type: string } => {
  const { name: _, components, ...rest } = input as { type: string; name?: string; components?: readonly object[] }
  return { ...rest, ...(components && { components: components.map(withoutName) }) }
}

const textOf = (value: unknown): string => {
  if (value instanceof Uint8Array) return bytesToHex(value)
  if (Array.isArray(value)) return `[${value.map(textOf).join(', ')}]`
  return typeof value === 'string' && !value.startsWith('0x') ? JSON.stringify(value) : String(value)
}

/** Adds the errors of files that are new or have changed, by name and time. */
const readFolder = async (folder: string, known: Map<string, readonly ErrorAbi[]>): Promise<void> => {
  const names = (await readdir(folder, { recursive: true })).filter(name => name.endsWith('.json')).slice(0, FILES)
  for (const name of names) {
    const path = join(folder, name)
    const { mtimeMs, size } = await stat(path)
    const key = `${path} ${mtimeMs}`
    if (known.has(key) || size > FILE_BYTES) continue
    known.set(key, errorsOf(await readFile(path, 'utf8')))
  }
}

/** Errors of an ABI, or of the artifact of a compiler, which has it as `abi`; none of any other JSON. */
const errorsOf = (text: string): readonly ErrorAbi[] => {
  try {
    const document = JSON.parse(text) as { readonly abi?: unknown }
    const abi: unknown = document.abi ?? document
    return Array.isArray(abi) ? abi.filter(isError) : []
  } catch {
    return []
  }
}

const isError = (entry: Partial<ErrorAbi> | null): entry is ErrorAbi =>
  entry?.type === 'error' && typeof entry.name === 'string' && Array.isArray(entry.inputs)
