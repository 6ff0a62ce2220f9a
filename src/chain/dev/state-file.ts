import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { DEV_LIMITS } from '../../config/limits/chain.ts'
import type { Header } from '../../primitives/header.ts'
import { decodeAccount, EMPTY_CODE_HASH, EMPTY_ROOT } from '../../state/account.ts'
import type { AccountEdit } from '../../state/edit/account-edit.ts'
import { hashedKey, readCode } from '../../state/flat-tables.ts'
import { decodeWord } from '../../state/storage-word.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import type { Snapshot, Store } from '../../storage/store.ts'
import { bytesToHex, type Hex, hexToBytes, toQuantity } from '../../util/bytes.ts'
import { CodedError } from '../../util/errors.ts'

/*
 * State as one value to dump and load: gzip of JSON, as in anvil. This node names accounts and slots by their keccak, as in its
 * tables, and anvil by address and slot. Both are read.
 *   { "format": "tandem/state/1", "number", "timestamp",
 *     "accounts": { "<address or its keccak>": { "nonce", "balance", "code", "storage": { "<slot or its keccak>": word } } } }
 */

const STATE_FORMAT = 'tandem/state/1'

export type StateFileError =
  | { readonly code: 'STATE_MALFORMED'; readonly reason: string }
  | { readonly code: 'STATE_TOO_LARGE'; readonly limitBytes: number }

const tooLarge = () => new CodedError<StateFileError>({ code: 'STATE_TOO_LARGE', limitBytes: DEV_LIMITS.stateBytes })
const malformed = (reason: string) => new CodedError<StateFileError>({ code: 'STATE_MALFORMED', reason })

interface StoredAccount {
  readonly nonce: Hex
  readonly balance: Hex
  readonly code: Hex
  readonly storage: Record<Hex, Hex>
}

/** Dumps the head's state. Throws STATE_TOO_LARGE. */
export const dumpState = async (store: Store, { number, timestamp }: Header): Promise<Uint8Array> => {
  const snapshot = store.snapshot()
  try {
    const accounts: Record<Hex, StoredAccount> = {}
    let bytes = 0
    for await (const [key, row] of store.entries(BUCKETS.account, { snapshot })) {
      const account = decodeAccount(row)
      const code = account.codeHash === EMPTY_CODE_HASH ? '0x' : bytesToHex(readCode(store, account.codeHash))
      const storage = account.storageRoot === EMPTY_ROOT ? {} : await slotsOf(store, snapshot, key)
      bytes += ACCOUNT_BYTES + code.length + SLOT_BYTES * Object.keys(storage).length
      if (bytes > DEV_LIMITS.stateBytes) throw tooLarge()
      accounts[bytesToHex(key)] = {
        nonce: toQuantity(account.nonce),
        balance: toQuantity(account.balance),
        code,
        storage,
      }
    }
    return await promisify(gzip)(JSON.stringify({ format: STATE_FORMAT, number, timestamp, accounts }))
  } finally {
    await snapshot.close()
  }
}

/** Approximate size of an account and a slot as text. */
const ACCOUNT_BYTES = 160
const SLOT_BYTES = 140

const slotsOf = async (store: Store, snapshot: Snapshot, account: Uint8Array): Promise<Record<Hex, Hex>> => {
  const slots: Record<Hex, Hex> = {}
  let bytes = 0
  for await (const [key, word] of store.entries(BUCKETS.slot, { prefix: account, snapshot })) {
    slots[bytesToHex(key.subarray(32))] = decodeWord(word)
    bytes += SLOT_BYTES
    if (bytes > DEV_LIMITS.stateBytes) throw tooLarge()
  }
  return slots
}

interface ParsedState {
  readonly edits: readonly AccountEdit[]
  /** Timestamp of the dumped block, unix seconds; 0 when absent. */
  readonly timestamp: number
}

/** Parses a state dumped here or by anvil. Throws STATE_MALFORMED or STATE_TOO_LARGE. */
export const parseState = async (bytes: Uint8Array): Promise<ParsedState> => {
  if (bytes.byteLength > DEV_LIMITS.stateBytes) throw tooLarge()
  const root = asObject(jsonOf(await unpacked(bytes)), 'the state')
  if (root['format'] !== undefined && root['format'] !== STATE_FORMAT)
    throw malformed(`this node reads "${STATE_FORMAT}" and what anvil dumps`)
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
    if (error instanceof RangeError) throw tooLarge()
    throw malformed('not gzip')
  }
}

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw malformed('not gzip of JSON')
  }
}

const asObject = (value: unknown, what: string): Record<string, unknown> => {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw malformed(`${what} must be an object`)
}

const within = <T>(name: string, read: () => T): T => {
  try {
    return read()
  } catch (error) {
    throw error instanceof CodedError ? error : malformed(`account ${name}: ${(error as Error).message}`)
  }
}

const timestampOf = (root: Record<string, unknown>): number => {
  const block = root['block']
  const given = root['timestamp'] ?? (typeof block === 'object' && block !== null ? Reflect.get(block, 'timestamp') : 0)
  const seconds = Number(given)
  return Number.isSafeInteger(seconds) && seconds >= 0 ? seconds : 0
}

const editOf = (name: string, account: Record<string, unknown>): AccountEdit => {
  const storage = Object.entries(asObject(account['storage'] ?? {}, `storage of ${name}`))
  const nonce = Number(number(account['nonce'] ?? 0, 53))
  return {
    key: keyOf(name, 20),
    nonce,
    balance: number(account['balance'] ?? 0, 256),
    code: code(account['code'] ?? '0x'),
    // A slot of 32 bytes is a hash where the account is one.
    storage: storage.map(([slot, word]) => [
      name.length === 42 ? hashedKey(`0x${digits(slot).padStart(64, '0')}`) : keyOf(slot, 0),
      `0x${number(word, 256).toString(16).padStart(64, '0')}`,
    ]),
  }
}

/** Returns a 32-byte hash unchanged; a name of `nameBytes` is hashed. */
const keyOf = (text: string, nameBytes: number): Uint8Array => {
  const hex: Hex = `0x${digits(text).toLowerCase()}`
  if (hex.length === 66) return hexToBytes(hex)
  if (nameBytes > 0 && hex.length === 2 + 2 * nameBytes) return hashedKey(hex)
  throw malformed(`${text.slice(0, 80)} is neither a name nor a hash`)
}

const digits = (text: string): string => {
  if (/^0x[0-9a-fA-F]{0,64}$/.test(text)) return text.slice(2)
  throw malformed(`${text.slice(0, 80)} is not hex of at most 32 bytes`)
}

const number = (value: unknown, bits: number): bigint => {
  const isNumber = typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
  const isText = typeof value === 'string' && /^(0x[0-9a-fA-F]{1,64}|[0-9]{1,78})$/.test(value)
  if (!isNumber && !isText) throw malformed('a number must be an integer, decimal or 0x')
  const result = BigInt(value as string | number)
  if (result >> BigInt(bits) > 0n) throw malformed(`a number has more than ${bits} bits`)
  return result
}

const code = (value: unknown): Uint8Array => {
  if (typeof value === 'string' && value.length % 2 === 0 && /^0x[0-9a-fA-F]*$/.test(value))
    return hexToBytes(value as Hex)
  throw malformed('code must be hex')
}
