import { gzipSync } from 'node:zlib'
import { bytesToHex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import { describe, expect, test } from 'vitest'
import { parseState } from '../../../../src/chain/dev/parse-state.ts'
import { DEV_LIMITS } from '../../../../src/config/limits/chain.ts'
import { keccak256 } from '../../../../src/crypto/hash.ts'
import { hashedKey } from '../../../../src/state/flat-tables.ts'

const ADDRESS = `0x${'a1'.repeat(20)}` as const
const HASH = `0x${'77'.repeat(32)}` as const
const state = (accounts: unknown, more: object = {}) => Buffer.from(JSON.stringify({ accounts, ...more }))

const failure = async (bytes: Uint8Array): Promise<string> => {
  try {
    await parseState(bytes)
    return 'none'
  } catch (error) {
    if (!isCoded(error)) throw error
    const { code, reason } = error.detail as { code: string; reason?: string }
    return reason === undefined ? code : `${code} ${reason}`
  }
}

test('accounts by address with slots of any length (anvil), and by hash (this node), plain or packed', async () => {
  const accounts = {
    [ADDRESS]: { nonce: 3, balance: '0x64', code: '0x5f', storage: { '0x1': '0x07' } },
    [HASH]: { balance: '100', storage: { [HASH]: '0x08' } },
  }
  const plain = await parseState(state(accounts, { block: { timestamp: '0x10' } }))
  expect(plain.timestamp).toBe(16)
  expect(await parseState(gzipSync(state(accounts, { block: { timestamp: '0x10' } })))).toEqual(plain)
  const [byName, byHash] = plain.edits
  const slot = toWord(1n)
  expect(byName).toEqual({
    key: hashedKey(ADDRESS),
    nonce: 3,
    balance: 100n,
    code: Uint8Array.of(0x5f),
    storage: [[keccak256(hexToBytes(slot)), `0x${'7'.padStart(64, '0')}`]],
    preimages: [ADDRESS, slot],
  })
  expect(bytesToHex(byHash?.key as Uint8Array)).toBe(HASH)
  expect(byHash).toMatchObject({ nonce: 0, balance: 100n, storage: [[hexToBytes(HASH), `0x${'8'.padStart(64, '0')}`]] })
})

describe('invalid state files are refused', () => {
  test.each([
    ['no JSON', Buffer.from('{'), 'STATE_MALFORMED neither JSON nor gzip of JSON'],
    ['torn gzip', gzipSync(state({})).subarray(0, 20), 'STATE_MALFORMED not gzip'],
    ['a list', Buffer.from('[]'), 'STATE_MALFORMED the state must be an object'],
    ['no accounts', Buffer.from('{}'), 'STATE_MALFORMED accounts must be an object'],
    [
      'another format',
      state({}, { format: 'tandem/state/9' }),
      'this node reads "tandem/state/1" and what anvil dumps',
    ],
    ['a short name', state({ '0x12': {} }), 'STATE_MALFORMED 0x12 is neither a name nor a hash'],
    ['a name that is no hex', state({ bob: {} }), 'STATE_MALFORMED bob is not hex of at most 32 bytes'],
    ['an account that is none', state({ [ADDRESS]: null }), `STATE_MALFORMED ${ADDRESS} must be an object`],
    ['a negative balance', state({ [ADDRESS]: { balance: -1 } }), 'a number must be an integer'],
    ['a balance of 257 bits', state({ [ADDRESS]: { balance: (2n ** 256n).toString() } }), 'more than 256 bits'],
    ['a large nonce', state({ [ADDRESS]: { nonce: '0x10000000000000000' } }), 'more than 64 bits'],
    ['odd code', state({ [ADDRESS]: { code: '0x5' } }), 'code must be hex'],
    ['a word that is none', state({ [ADDRESS]: { storage: { '0x0': {} } } }), 'a number must be an integer'],
  ])('%s', async (_, bytes, expected) => {
    expect(await failure(bytes)).toContain(expected)
  })

  test('too much of it, as it comes and unpacked', async () => {
    const tooMuch = Buffer.alloc(DEV_LIMITS.stateBytes + 1, 0x20)
    expect(await failure(tooMuch)).toBe('STATE_TOO_LARGE')
    expect(await failure(gzipSync(tooMuch))).toBe('STATE_TOO_LARGE')
  })
})
