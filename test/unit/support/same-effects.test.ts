import { type Hex, ZERO_HASH } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import type { EngineResult } from '../../../src/evm/engine.ts'
import type { StateChanges } from '../../../src/state/update/state-update.ts'
import { type Effects, sameEffects } from '../../support/evm/compare.ts'
import { address, word } from '../state/memory-state.ts'

/* The comparison of the long differential test sees every kind of difference that a message's text has. */

const [A, B]: [Hex, Hex] = [address(1), address(2)]
const account = { nonce: 1, balance: 5n, codeHash: word(3), storageRoot: word(4) }
const slots = (entries: readonly (readonly [Hex, Hex])[]) =>
  new Map(entries.map(([slot, after]) => [slot, { before: ZERO_HASH, after }]))

const result: EngineResult = {
  gasUsed: 21n,
  refund: 4n,
  output: Uint8Array.of(1, 2),
  logs: [{ address: A, topics: [word(1)], data: Uint8Array.of(3) }],
  internal: [{ kind: 'call', from: A, to: B, value: 1n }],
  created: null,
  destroyed: [A, B],
  failure: null,
}
const changes: StateChanges = {
  accounts: new Map([[A, { before: undefined, after: account }]]),
  storage: new Map([[A, slots([[word(1), word(2)]])]]),
  code: new Map([[word(3), Uint8Array.of(0)]]),
  cleared: new Set([B]),
}
const effects = (of: Partial<EngineResult> = {}, to: Partial<StateChanges> = {}): Effects => ({
  result: { ...result, ...of },
  changes: { ...changes, ...to },
})

const log = result.logs[0] as EngineResult['logs'][number]
const OTHERS: Readonly<Record<string, Effects>> = {
  gas: effects({ gasUsed: 22n }),
  refund: effects({ refund: 0n }),
  output: effects({ output: Uint8Array.of(1, 3) }),
  'length of the output': effects({ output: Uint8Array.of(1) }),
  created: effects({ created: B }),
  destroyed: effects({ destroyed: [A] }),
  failure: effects({ failure: { kind: 'revert' } }),
  'address of a log': effects({ logs: [{ ...log, address: B }] }),
  'topic of a log': effects({ logs: [{ ...log, topics: [word(2)] }] }),
  'data of a log': effects({ logs: [{ ...log, data: Uint8Array.of(4) }] }),
  'a log more': effects({ logs: [log, log] }),
  'an internal transfer': effects({ internal: [{ kind: 'call', from: A, to: B, value: 2n }] }),
  nonce: effects({}, { accounts: new Map([[A, { before: undefined, after: { ...account, nonce: 2 } }]]) }),
  balance: effects({}, { accounts: new Map([[A, { before: undefined, after: { ...account, balance: 6n } }]]) }),
  code: effects({}, { accounts: new Map([[A, { before: undefined, after: { ...account, codeHash: word(9) } }]]) }),
  'an account gone': effects({}, { accounts: new Map([[A, { before: account, after: undefined }]]) }),
  'another account': effects({}, { accounts: new Map([[B, { before: undefined, after: account }]]) }),
  'a word': effects({}, { storage: new Map([[A, slots([[word(1), word(3)]])]]) }),
  'a slot': effects({}, { storage: new Map([[A, slots([[word(2), word(2)]])]]) }),
  'a slot more': effects(
    {},
    {
      storage: new Map([
        [
          A,
          slots([
            [word(1), word(2)],
            [word(2), word(2)],
          ]),
        ],
      ]),
    },
  ),
  'code stored': effects({}, { code: new Map() }),
  cleared: effects({}, { cleared: new Set() }),
  thrown: { result: undefined, thrown: 'why' },
}

test('equal effects are the same', () => {
  expect(sameEffects(effects(), effects())).toBe(true)
  expect(sameEffects(effects(), effects({ destroyed: [B, A] }))).toBe(true)
  expect(sameEffects({ result: undefined, thrown: 'why' }, { result: undefined, thrown: 'why' })).toBe(true)
})

test('what the text leaves out is no difference: zeros of an account that lost its storage', () => {
  const read = new Map([...changes.storage, [B, slots([[word(1), ZERO_HASH]])]])
  expect(sameEffects(effects(), effects({}, { storage: read }))).toBe(true)
})

test.each(Object.entries(OTHERS))('another %s is a difference', (_, other) => {
  expect(sameEffects(effects(), other)).toBe(false)
  expect(sameEffects(other, effects())).toBe(false)
})
