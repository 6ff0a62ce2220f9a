import { EMPTY_BYTES, type Hex, ZERO_HASH } from '@tandem/base/bytes.ts'
import { GENESIS_BOUNDS } from '../protocol-bounds.ts'
import { type GenesisValue, padWord } from './json-reader.ts'
import type { GenesisAccount } from './types.ts'

const MEMBERS = ['balance', 'nonce', 'code', 'storage']
const ADDRESS = /^0x[0-9a-f]{40}$/

/** Reads the accounts of block 0 by address. */
export const readAlloc = (value: GenesisValue): ReadonlyMap<Hex, GenesisAccount> => {
  const alloc = new Map<Hex, GenesisAccount>()
  for (const [key, entry] of value.entries()) {
    const address = key.toLowerCase() as Hex
    if (!ADDRESS.test(address)) entry.fail('want an address as the key: 0x and 40 hex digits')
    if (alloc.has(address)) entry.fail('duplicate address, in different letter case')
    entry.only(MEMBERS)
    const [balance, nonce] = [entry.required('balance').amount(), entry.optional('nonce')?.integer(0) ?? 0]
    alloc.set(address, { balance, nonce, ...readContract(entry) })
  }
  return alloc
}

/** Reads code and storage of an account; both may be missing. */
export const readContract = (entry: GenesisValue): Pick<GenesisAccount, 'code' | 'storage'> => ({
  code: entry.optional('code')?.data(GENESIS_BOUNDS.codeBytes) ?? EMPTY_BYTES,
  storage: readStorage(entry.optional('storage')),
})

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
