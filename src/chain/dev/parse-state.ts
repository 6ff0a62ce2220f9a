import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { uint64FromBigint } from '@tandem/base/uint64.ts'
import { DEV_LIMITS } from '../../config/limits/chain.ts'
import { hashedKey } from '../../state/flat-tables.ts'
import type { AccountEdit } from '../../state/world/account-edit.ts'

/*
 * State as one value to dump and load, in the form that anvil reads and writes; its own fields are left out by the other side.
 *   { "format": "tandem/state/1", "number", "timestamp",
 *     "accounts": { "<address>": { "nonce", "balance", "code", "storage": { "<slot>": word } } },
 *     "block", "best_block_number", "blocks": the head for anvil }
 * Accounts and slots whose preimages this node never kept are named by their keccak256, which only this node reads.
 */

export const STATE_FORMAT = 'tandem/state/1'

export type StateFileError =
  | { readonly code: 'STATE_MALFORMED'; readonly reason: string }
  | { readonly code: 'STATE_TOO_LARGE'; readonly limitBytes: number }

export const stateTooLarge = () =>
  new CodedError<StateFileError>({ code: 'STATE_TOO_LARGE', limitBytes: DEV_LIMITS.stateBytes })
const stateMalformed = (reason: string) => new CodedError<StateFileError>({ code: 'STATE_MALFORMED', reason })

/** Parses a state dumped here or by anvil; `timestamp` is 0 when absent. Throws STATE_MALFORMED or STATE_TOO_LARGE. */
export const parseState = async (bytes: Uint8Array) => {
  if (bytes.byteLength > DEV_LIMITS.stateBytes) throw stateTooLarge()
  const root = asObject(jsonOf(await unpacked(bytes)), 'the state')
  if (root['format'] !== undefined && root['format'] !== STATE_FORMAT)
    throw stateMalformed(`this node reads "${STATE_FORMAT}" and what anvil dumps`)
  const accounts = asObject(root['accounts'], 'accounts')
  return {
    edits: Object.entries(accounts).map(([name, value]) => within(name, () => editOf(name, asObject(value, name)))),
    timestamp: timestampOf(root),
  }
}

const unpacked = async (bytes: Uint8Array): Promise<string> => {
  // anvil writes plain JSON to files.
  if (bytes[0] !== 0x1f) return Buffer.from(bytes).toString('utf8')
  try {
    return (await promisify(gunzip)(bytes, { maxOutputLength: DEV_LIMITS.stateBytes })).toString('utf8')
  } catch (error) {
    if (error instanceof RangeError) throw stateTooLarge()
    throw stateMalformed('not gzip')
  }
}

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw stateMalformed('neither JSON nor gzip of JSON')
  }
}

const asObject = (value: unknown, what: string): Record<string, unknown> => {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw stateMalformed(`${what} must be an object`)
}

const within = <T>(name: string, read: () => T): T => {
  try {
    return read()
  } catch (error) {
    throw error instanceof CodedError ? error : stateMalformed(`account ${name}: ${(error as Error).message}`)
  }
}

const timestampOf = (root: Record<string, unknown>): number => {
  const block = root['block']
  const given = root['timestamp'] ?? (typeof block === 'object' && block !== null ? Reflect.get(block, 'timestamp') : 0)
  const seconds = Number(given)
  return Number.isInteger(seconds) && seconds >= 0 && seconds <= DEV_LIMITS.lastTimestamp ? seconds : 0
}

const editOf = (name: string, account: Record<string, unknown>): AccountEdit => {
  const slots = Object.entries(asObject(account['storage'] ?? {}, `storage of ${name}`))
  const nonce = uint64FromBigint(number(account['nonce'] ?? 0, 64))
  // A slot of 32 bytes is a hash where the account is one.
  const isNamed = name.length === 42
  return {
    key: keyOf(name, 20),
    nonce,
    balance: number(account['balance'] ?? 0, 256),
    code: code(account['code'] ?? '0x'),
    storage: slots.map(([slot, word]) => [
      isNamed ? hashedKey(slotName(slot)) : keyOf(slot, 0),
      `0x${number(word, 256).toString(16).padStart(64, '0')}`,
    ]),
    ...(isNamed && { preimages: [name.toLowerCase() as Hex, ...slots.map(([slot]) => slotName(slot))] }),
  }
}

/** Returns a 32-byte hash unchanged; a name of `nameBytes` is hashed. */
const keyOf = (text: string, nameBytes: number): Uint8Array => {
  const hex: Hex = `0x${digits(text).toLowerCase()}`
  if (hex.length === 66) return hexToBytes(hex)
  if (nameBytes > 0 && hex.length === 2 + 2 * nameBytes) return hashedKey(hex)
  throw stateMalformed(`${text.slice(0, 80)} is neither a name nor a hash`)
}

const slotName = (text: string): Hex => `0x${digits(text).toLowerCase().padStart(64, '0')}`

const digits = (text: string): string => {
  if (/^0x[0-9a-fA-F]{0,64}$/.test(text)) return text.slice(2)
  throw stateMalformed(`${text.slice(0, 80)} is not hex of at most 32 bytes`)
}

const number = (value: unknown, bits: number): bigint => {
  const isNumber = typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
  const isText = typeof value === 'string' && /^(0x[0-9a-fA-F]{1,64}|[0-9]{1,78})$/.test(value)
  if (!isNumber && !isText) throw stateMalformed('a number must be an integer, decimal or 0x')
  const result = BigInt(value as string | number)
  if (result >> BigInt(bits) > 0n) throw stateMalformed(`a number has more than ${bits} bits`)
  return result
}

const code = (value: unknown): Uint8Array => {
  if (typeof value === 'string' && value.length % 2 === 0 && /^0x[0-9a-fA-F]*$/.test(value))
    return hexToBytes(value as Hex)
  throw stateMalformed('code must be hex')
}
