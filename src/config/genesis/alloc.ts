import { EMPTY_BYTES, type Hex, ZERO_HASH } from '@tandem/base/bytes.ts'
import { MAX_UINT64, type Nonce, uint64FromBigint } from '@tandem/base/uint64.ts'
import { GENESIS_BOUNDS } from '../protocol-bounds.ts'
import { type GenesisValue, padWord } from './json-reader.ts'
import type { GenesisAccount } from './types.ts'

/** Differences between the two formats. */
interface AllocRules {
  /** geth's files also have addresses without 0x, and amounts as JSON numbers. */
  readonly loose: boolean
}

const MEMBERS = ['balance', 'nonce', 'code', 'storage']
const ADDRESS = /^0x[0-9a-f]{40}$/

export const readAlloc = (value: GenesisValue, rules: AllocRules): ReadonlyMap<Hex, GenesisAccount> => {
  const alloc = new Map<Hex, GenesisAccount>()
  for (const [key, entry] of value.entries()) {
    const address = addressOf(key, entry, rules)
    if (alloc.has(address)) entry.fail('duplicate address, in different letter case')
    alloc.set(address, readAccount(entry, rules))
  }
  return alloc
}

const addressOf = (key: string, entry: GenesisValue, rules: AllocRules): Hex => {
  const lower = key.toLowerCase()
  const address = rules.loose && !lower.startsWith('0x') ? `0x${lower}` : lower
  return ADDRESS.test(address) ? (address as Hex) : entry.fail('want an address as the key: 0x and 40 hex digits')
}

const readAccount = (entry: GenesisValue, rules: AllocRules): GenesisAccount => {
  entry.only(rules.loose ? [...MEMBERS, 'secretKey'] : MEMBERS)
  return {
    balance: readBalance(entry.required('balance'), rules),
    nonce: readNonce(entry.optional('nonce'), rules),
    code: entry.optional('code')?.data(GENESIS_BOUNDS.codeBytes) ?? EMPTY_BYTES,
    storage: readStorage(entry.optional('storage')),
  }
}

const readBalance = (value: GenesisValue, rules: AllocRules): bigint =>
  rules.loose ? value.looseAmount() : value.amount()

const readNonce = (value: GenesisValue | undefined, rules: AllocRules): Nonce => {
  if (value === undefined) return 0
  return rules.loose ? uint64FromBigint(value.looseAmount(MAX_UINT64)) : value.integer(0)
}

const readStorage = (value: GenesisValue | undefined): ReadonlyMap<Hex, Hex> => {
  const storage = new Map<Hex, Hex>()
  for (const [key, entry] of value?.entries() ?? []) {
    const slot = padWord(entry, key, 32)
    if (storage.has(slot)) entry.fail('duplicate slot')
    storage.set(slot, entry.word())
  }
  for (const [slot, word] of storage) if (word === ZERO_HASH) storage.delete(slot)
  return storage
}
