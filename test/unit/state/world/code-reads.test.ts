import { bytesToHex, EMPTY_BYTES, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { keccak256 } from '../../../../src/crypto/hash.ts'
import { EMPTY_ROOT, encodeAccount } from '../../../../src/state/account.ts'
import { hashedKey } from '../../../../src/state/flat-tables.ts'
import { Journal } from '../../../../src/state/journal/journal.ts'
import type { StateReader } from '../../../../src/state/state-reader.ts'
import { cacheLimits, HeadState } from '../../../../src/state/world/head-state.ts'
import { BUCKETS } from '../../../../src/storage/buckets.ts'
import { Store } from '../../../../src/storage/store.ts'
import { temporaryStore } from '../../storage/temp-store.ts'
import { address } from '../memory-state.ts'

const CODE = new Uint8Array(24_576).fill(0x5b)
const [WITH_CODE, WITHOUT] = [address(1), address(2)]

const headOf = async (store: Store): Promise<HeadState> => {
  const codeHash = bytesToHex(keccak256(CODE))
  const account = encodeAccount({ nonce: 1, balance: 0n, storageRoot: EMPTY_ROOT, codeHash })
  await store
    .batch()
    .put(BUCKETS.account, hashedKey(WITH_CODE), account)
    .put(BUCKETS.code, hexToBytes(codeHash), CODE)
    .write()
  return new HeadState(store, cacheLimits(1024 * 1024))
}

/** The array that a reader has passed, and its content at that time. */
const used = (state: StateReader, who: Hex) => {
  let [array, content]: [Uint8Array, string] = [EMPTY_BYTES, '']
  state.useCode?.(who, code => {
    array = code
    content = bytesToHex(code)
  })
  return { array, content }
}

test.each([
  ['on disk', () => temporaryStore()],
  ['in memory', () => Store.open('/nowhere', { ephemeral: true })],
])('code of a store %s is given back after its first use, and kept from the second on', async (_, open) => {
  const head = await headOf(await open())
  const first = used(head, WITH_CODE)
  expect(first.content).toBe(bytesToHex(CODE))
  expect(first.array.byteLength).toBe(0)
  const second = used(head, WITH_CODE)
  expect(second.content).toBe(bytesToHex(CODE))
  expect(bytesToHex(second.array)).toBe(bytesToHex(CODE))
  expect(used(head, WITH_CODE).array).toBe(second.array)
  expect(head.code(WITH_CODE)).toBe(second.array)
  expect(used(head, WITHOUT).content).toBe('0x')
  await head.close()
})

test('code that a reader has kept is not given back', async () => {
  const head = await headOf(await temporaryStore())
  const kept = head.code(WITH_CODE)
  expect(used(head, WITH_CODE).array).toBe(kept)
  expect(bytesToHex(kept)).toBe(bytesToHex(CODE))
  await head.close()
})

test('a journal passes its own code, and that of the state under it where it has none', async () => {
  const head = await headOf(await temporaryStore())
  const outer = new Journal(head.view())
  const inner = new Journal(outer)
  expect(used(inner, WITH_CODE).content).toBe(bytesToHex(CODE))
  outer.setCode(WITHOUT, Uint8Array.of(1, 2))
  expect(used(inner, WITHOUT).content).toBe('0x0102')
  inner.setCode(WITH_CODE, EMPTY_BYTES)
  expect(used(inner, WITH_CODE).content).toBe('0x')
  expect(used(outer, WITH_CODE).content).toBe(bytesToHex(CODE))
  await head.close()
})
