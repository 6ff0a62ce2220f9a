import { type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import { Journal } from '../../../../src/state/journal/journal.ts'
import { env, funded, key, messageTo, paramsAt, withCode } from '../world.ts'
import { engineOf } from './engines.ts'

/*
 * Frames with less gas than a cold access costs: the state must not be read for them, for each such frame costs a caller about 150 gas
 * where the access costs 2,100 or 2,600.
 */

const sender = key(1)
const TARGET: Hex = `0x${'cc'.repeat(20)}`
const HELPER: Hex = `0x${'dd'.repeat(20)}`
const GAS = 3_000_000n
const CHEAPEST_ACCESS = 2_100n

/** Calls the helper with so much gas and a new word as input, for ever. */
const caller = (gas: number): string =>
  `5b5a5f525f5f60205f5f73${HELPER.slice(2)}61${gas.toString(16).padStart(4, '0')}f1505f56`

/** Code of the helper by opcode: it runs the opcode on the word of its input. */
const ACCESSES: Readonly<Record<string, string>> = {
  BALANCE: '5f3531',
  EXTCODESIZE: '5f353b',
  EXTCODEHASH: '5f353f',
  EXTCODECOPY: '60205f5f5f353c',
  CALL: '5f5f5f5f5f5f355af1',
  'CALL with a value': '5f5f5f5f60015f355af1',
  STATICCALL: '5f5f5f5f5f355afa',
  SELFDESTRUCT: '5f35ff',
  SLOAD: '5f3554',
  SSTORE: '60015f3555',
}

const message = messageTo(TARGET, GAS, sender)

// EthereumJS reads what a call names before the price is known: time bounds that.
describe.each(['wasm', 'interpreter'] as const)('an access that is not paid (%s)', name => {
  describe.each(Object.entries(ACCESSES))('%s', (_name, body) => {
    test.each([60, 150, 500, 2_099, 2_400, 2_599])('with %d gas', async gas => {
      const state = withCode(funded([sender]), TARGET, hexToBytes(`0x${caller(gas)}`), 10n ** 18n)
      withCode(state, HELPER, hexToBytes(`0x${body}00`), 10n ** 18n)
      let reads = 0
      const journal = new Journal({
        account(address) {
          reads++
          const account = state.account(address)
          return account && { ...account, storageRoot: toWord(1n) }
        },
        storage(address, slot) {
          reads++
          return state.storage(address, slot)
        },
        code: address => state.code(address),
      })
      const engine = await engineOf(name)
      const { failure } = await engine.run(journal, env({ params: paramsAt('prague') }), message)
      expect(failure).toMatchObject({ kind: 'halt' })
      // Some accounts are read for every message.
      expect(reads).toBeLessThan(Number(GAS / CHEAPEST_ACCESS) + 10)
    })
  })
})
