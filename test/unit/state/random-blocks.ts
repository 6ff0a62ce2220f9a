import fc from 'fast-check'
import type { Journal } from '../../../src/state/journal/journal.ts'
import { address, word } from './memory-state.ts'

const who = fc.integer({ min: 1, max: 6 }).map(n => address(n * 0x1111))
const slot = fc.integer({ min: 0, max: 3 }).map(word)
const small = fc.integer({ min: 0, max: 3 })

const action = fc.oneof(
  { weight: 3, arbitrary: fc.record({ op: fc.constant('balance' as const), who, value: small }) },
  fc.record({ op: fc.constant('nonce' as const), who, value: small }),
  fc.record({ op: fc.constant('code' as const), who, code: fc.uint8Array({ minLength: 1, maxLength: 2 }) }),
  { weight: 5, arbitrary: fc.record({ op: fc.constant('storage' as const), who, slot, value: small }) },
  fc.record({ op: fc.constant('create' as const), who }),
  fc.record({ op: fc.constant('delete' as const), who }),
)
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never

export type BlockActions = readonly Action[]

/** Blocks of actions on few accounts and slots, so that they meet: also deletion of accounts with stored slots. */
export const blocks = (maxBlocks: number) =>
  fc.array(fc.array(action, { maxLength: 12 }), { minLength: 1, maxLength: maxBlocks })

export const run = (journal: Journal, actions: BlockActions): void => {
  for (const step of actions) {
    if (step.op === 'balance') journal.setBalance(step.who, BigInt(step.value))
    else if (step.op === 'nonce') journal.setNonce(step.who, step.value)
    else if (step.op === 'code') journal.setCode(step.who, step.code)
    else if (step.op === 'storage') journal.setStorage(step.who, step.slot, word(step.value))
    else if (step.op === 'create') journal.createAccount(step.who)
    else journal.deleteAccount(step.who)
  }
  journal.endTransaction()
}

export const ADDRESSES = Array.from({ length: 6 }, (_, i) => address((i + 1) * 0x1111))
export const SLOTS = [0, 1, 2, 3].map(word)
