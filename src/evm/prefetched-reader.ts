import { assert } from '@tandem/base/assert.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import type { Account } from '../state/account.ts'
import type { AsyncStateReader, StateReader } from '../state/state-reader.ts'

/** Loads state before it is read; undefined: it is loaded. */
export interface Prefetcher {
  account(address: Hex): Promise<void> | undefined
  slot(address: Hex, slot: Hex): Promise<void> | undefined
  code(address: Hex): Promise<void> | undefined
}

/** Makes asynchronous state readable for a journal: the engine calls `prefetch` before each read. One per call; keeps all. */
export const createPrefetchedReader = (source: AsyncStateReader): { reader: StateReader; prefetch: Prefetcher } => {
  const accounts = new Map<Hex, Account | undefined>()
  const slots = new Map<string, Hex>()
  const codes = new Map<Hex, Uint8Array>()

  const prefetch: Prefetcher = {
    account(address) {
      if (accounts.has(address)) return undefined
      return source.account(address).then(account => void accounts.set(address, account))
    },
    slot(address, slot) {
      const key = address + slot
      if (slots.has(key)) return prefetch.account(address)
      return Promise.all([prefetch.account(address), source.storage(address, slot)]).then(
        ([, word]) => void slots.set(key, word),
      )
    },
    code(address) {
      if (codes.has(address)) return prefetch.account(address)
      return Promise.all([prefetch.account(address), source.code(address)]).then(
        ([, code]) => void codes.set(address, code),
      )
    },
  }

  const reader: StateReader = {
    account(address) {
      assert(accounts.has(address), 'an account is loaded before it is read')
      return accounts.get(address)
    },
    storage(address, slot) {
      const word = slots.get(address + slot)
      assert(word !== undefined, 'a slot is loaded before it is read')
      return word
    },
    code(address) {
      const code = codes.get(address)
      assert(code !== undefined, 'code is loaded before it is read')
      return code
    },
  }
  return { reader, prefetch }
}
