import { type Hex, ZERO_HASH } from '@tandem/base/bytes.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { keccak256Hex } from '../../src/crypto/hash.ts'
import { EMPTY_CODE_HASH } from '../../src/state/account.ts'
import { Journal } from '../../src/state/journal/journal.ts'
import { address, MemoryState, memoryAccount, word } from '../unit/state/memory-state.ts'

const seed = Number(process.env['SEED'] ?? 20_250_217)

/** The journal's contract written the slow way: a copy of the whole state per checkpoint. */
class SlowJournal {
  state: MemoryState
  start: MemoryState
  touched = new Set<Hex>()
  /** Accounts created or deleted by the running transaction: their original words are zero. */
  renewed = new Set<Hex>()
  readonly marks: { state: MemoryState; touched: Set<Hex>; renewed: Set<Hex>; mark: number }[] = []

  constructor(base: MemoryState) {
    this.state = base.copy()
    this.start = base.copy()
  }

  change(who: Hex) {
    this.touched.add(who)
    const account = this.state.accounts.get(who) ?? memoryAccount()
    this.state.accounts.set(who, account)
    return account
  }

  original(who: Hex, slot: Hex): Hex {
    return this.renewed.has(who) ? ZERO_HASH : this.start.storage(who, slot)
  }

  isEmpty(who: Hex): boolean {
    const { nonce, balance, codeHash } = this.state.accounts.get(who) ?? memoryAccount()
    return nonce === 0 && balance === 0n && codeHash === EMPTY_CODE_HASH
  }

  remove(who: Hex) {
    if (this.state.accounts.delete(who)) this.renewed.add(who)
  }

  endTransaction() {
    this.start = this.state.copy()
    this.touched.clear()
    this.renewed.clear()
    this.marks.length = 0
  }
}

const who = fc.integer({ min: 1, max: 4 }).map(n => address(n * 0x1111))
const slot = fc.integer({ min: 0, max: 3 }).map(word)
const small = fc.integer({ min: 0, max: 3 })
const code = fc.uint8Array({ maxLength: 3 })

const step = fc.oneof(
  fc.record({ op: fc.constant('setBalance' as const), who, value: small }),
  fc.record({ op: fc.constant('addBalance' as const), who, value: small }),
  fc.record({ op: fc.constant('setNonce' as const), who, value: small }),
  fc.record({ op: fc.constant('setCode' as const), who, code }),
  { weight: 3, arbitrary: fc.record({ op: fc.constant('setStorage' as const), who, slot, value: small }) },
  fc.record({ op: fc.constant('create' as const), who }),
  fc.record({ op: fc.constant('delete' as const), who }),
  fc.record({ op: fc.constant('touch' as const), who }),
  fc.record({ op: fc.constant('sweep' as const) }),
  { weight: 2, arbitrary: fc.record({ op: fc.constant('checkpoint' as const) }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('revert' as const), depth: small }) },
  fc.record({ op: fc.constant('end' as const) }),
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

const apply = (journal: Journal, model: SlowJournal, action: Step): void => {
  switch (action.op) {
    case 'setBalance':
      journal.setBalance(action.who, BigInt(action.value))
      model.change(action.who).balance = BigInt(action.value)
      return
    case 'addBalance':
      journal.addBalance(action.who, BigInt(action.value))
      model.change(action.who).balance += BigInt(action.value)
      return
    case 'setNonce':
      journal.setNonce(action.who, action.value)
      model.change(action.who).nonce = action.value
      return
    case 'setCode': {
      journal.setCode(action.who, action.code)
      const hash = action.code.byteLength === 0 ? EMPTY_CODE_HASH : keccak256Hex(action.code)
      model.state.codes.set(hash, action.code)
      model.change(action.who).codeHash = hash
      return
    }
    case 'setStorage': {
      journal.setStorage(action.who, action.slot, word(action.value))
      const { storage } = model.change(action.who)
      if (action.value === 0) storage.delete(action.slot)
      else storage.set(action.slot, word(action.value))
      return
    }
    case 'create': {
      journal.createAccount(action.who)
      const { balance } = model.change(action.who)
      model.state.accounts.set(action.who, memoryAccount({ balance }))
      model.renewed.add(action.who)
      return
    }
    case 'delete':
      journal.deleteAccount(action.who)
      model.remove(action.who)
      return
    case 'touch':
      journal.touch(action.who)
      model.touched.add(action.who)
      return
    case 'sweep':
      journal.sweepTouched()
      for (const key of model.touched) if (model.isEmpty(key)) model.remove(key)
      return
    case 'checkpoint': {
      const { state, touched, renewed } = model
      const mark = journal.checkpoint()
      model.marks.push({ state: state.copy(), touched: new Set(touched), renewed: new Set(renewed), mark })
      return
    }
    case 'revert': {
      const target = model.marks[model.marks.length - 1 - action.depth]
      if (target === undefined) return
      model.marks.length -= action.depth + 1
      journal.revert(target.mark)
      Object.assign(model, { state: target.state, touched: target.touched, renewed: target.renewed })
      return
    }
    case 'end':
      journal.endTransaction()
      model.endTransaction()
  }
}

const baseState = fc
  .array(
    fc.record({
      who,
      nonce: small,
      balance: small,
      code,
      words: fc.array(fc.tuple(slot, fc.integer({ min: 1, max: 3 }))),
    }),
  )
  .map(accounts => {
    const state = new MemoryState()
    for (const { who: key, nonce, balance, code: bytes, words } of accounts) {
      const codeHash = bytes.byteLength === 0 ? EMPTY_CODE_HASH : keccak256Hex(bytes)
      state.codes.set(codeHash, bytes)
      const storage = new Map(words.map(([at, value]) => [at, word(value)] as const))
      state.accounts.set(key, memoryAccount({ nonce, balance: BigInt(balance), codeHash, storage }))
    }
    return state
  })

const agree = (journal: Journal, model: SlowJournal): void => {
  for (let n = 1; n <= 4; n++) {
    const key = address(n * 0x1111)
    const expected = model.state.accounts.get(key)
    expect(journal.exists(key)).toBe(expected !== undefined)
    expect(journal.isEmpty(key)).toBe(model.isEmpty(key))
    const found = journal.account(key)
    expect(found && [found.nonce, found.balance, found.codeHash]).toEqual(
      expected && [expected.nonce, expected.balance, expected.codeHash],
    )
    expect(Buffer.from(journal.code(key))).toEqual(Buffer.from(model.state.code(key)))
    for (let at = 0; at < 4; at++) {
      expect(journal.storage(key, word(at))).toBe(model.state.storage(key, word(at)))
      expect(journal.originalStorage(key, word(at))).toBe(model.original(key, word(at)))
    }
  }
}

test('the journal agrees with copies of the whole state after every step', () => {
  fc.assert(
    fc.property(baseState, fc.array(step, { maxLength: 40 }), (base, steps) => {
      const journal = new Journal(base)
      const model = new SlowJournal(base)
      for (const action of steps) {
        apply(journal, model, action)
        agree(journal, model)
      }
    }),
    { seed, numRuns: 300 },
  )
})

test('its changes lead from the base to the end, and name nothing that stayed', () => {
  fc.assert(
    fc.property(baseState, fc.array(step, { maxLength: 60 }), (base, steps) => {
      const journal = new Journal(base)
      const model = new SlowJournal(base)
      for (const action of steps) apply(journal, model, action)
      const changes = journal.changes()
      expect(base.with(changes).plain()).toEqual(model.state.plain())
      for (const [key, { before, after }] of changes.accounts) {
        expect(before).toEqual(base.account(key))
        if (!changes.cleared?.has(key)) expect(after).not.toEqual(before)
      }
      for (const [key, slots] of changes.storage) {
        expect(slots.size).toBeGreaterThan(0)
        for (const [at, { before, after }] of slots) {
          expect(before).toBe(base.storage(key, at))
          if (!changes.cleared?.has(key)) expect(after).not.toBe(before)
        }
      }
      for (const key of changes.cleared ?? []) expect(base.accounts.get(key)?.storage.size).toBeGreaterThan(0)
      for (const hash of changes.code.keys()) {
        expect([...changes.accounts.values()].some(({ after }) => after?.codeHash === hash)).toBe(true)
      }
    }),
    { seed, numRuns: 500 },
  )
})
