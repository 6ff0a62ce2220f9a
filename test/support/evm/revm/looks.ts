import { type Hex, toQuantity, toWord, ZERO_HASH } from '@tandem/base/bytes.ts'
import { MAX_UINT64 } from '@tandem/base/uint64.ts'
import { createAddress } from '../../../../src/primitives/receipt/address.ts'
import { EMPTY_CODE_HASH } from '../../../../src/state/account.ts'
import type { MemoryState } from '../../../unit/state/memory-state.ts'

/*
 * Two more blocks of a simulation that look at the state: balances and code hashes of all accounts first, then each account's slots, by code
 * put in its place, and the address that it would create next, which tells its nonce.
 */

/** Accounts of the looking calls, which no program knows. */
const LOOKER: Hex = `0x${'70'.repeat(20)}`
const OBSERVER: Hex = `0x${'71'.repeat(20)}`
const LOOK_GAS = toQuantity(10_000_000)
/** Number of slots that are looked at even where nothing was written. */
const FIRST_SLOTS = 6

const push2 = (value: number): string => `61${value.toString(16).padStart(4, '0')}`
/** Code that returns the words that each of these pieces of code puts on the stack. */
const returning = (pieces: readonly string[]): Hex =>
  `0x${pieces.map((piece, i) => `${piece}${push2(32 * i)}52`).join('')}${push2(32 * pieces.length)}6000f3`

const concat = (words: readonly Hex[]): Hex => `0x${words.map(word => word.slice(2)).join('')}`

/** Creates without init code: leaves the new address. */
const CREATE_NOTHING = '600060006000f0'

interface Looks {
  readonly blocks: readonly object[]
  readonly expected: readonly (readonly { readonly returnData: Hex }[])[]
}

/** The blocks and what they must return; `slots` are looked at beside those that are there. */
export const lookAt = (
  state: MemoryState,
  addresses: readonly Hex[],
  slots: ReadonlyMap<Hex, Iterable<Hex>>,
): Looks => {
  const looks = addresses.flatMap(address => [`73${address.slice(2)}31`, `73${address.slice(2)}3f`])
  const seen = addresses.flatMap(address => {
    const { nonce = 0, balance = 0n, codeHash = EMPTY_CODE_HASH } = state.accounts.get(address) ?? {}
    const isEmpty = nonce === 0 && balance === 0n && codeHash === EMPTY_CODE_HASH
    return [toWord(balance), isEmpty ? ZERO_HASH : codeHash]
  })
  const keysOf = (address: Hex): readonly Hex[] => {
    const first = Array.from({ length: FIRST_SLOTS }, (_, i) => toWord(BigInt(i)))
    const there = state.accounts.get(address)?.storage.keys() ?? []
    return [...new Set([...first, ...there, ...(slots.get(address) ?? [])])]
  }
  const readers = addresses.map(address => {
    const pieces = [...keysOf(address).map(key => `7f${key.slice(2)}54`), CREATE_NOTHING]
    return [address, { code: returning(pieces) }] as const
  })
  const read = addresses.map(address => {
    const nonce = state.accounts.get(address)?.nonce ?? 0
    const next = BigInt(nonce) >= MAX_UINT64 ? ZERO_HASH : toWord(BigInt(createAddress(address, nonce)))
    return { returnData: concat([...keysOf(address).map(key => state.storage(address, key)), next]) }
  })
  const look = (to: Hex): object => ({ from: OBSERVER, to, gas: LOOK_GAS, gasPrice: '0x0' })
  return {
    blocks: [
      { stateOverrides: { [LOOKER]: { code: returning(looks) } }, calls: [look(LOOKER)] },
      { stateOverrides: Object.fromEntries(readers), calls: addresses.map(look) },
    ],
    expected: [[{ returnData: concat(seen) }], read],
  }
}
