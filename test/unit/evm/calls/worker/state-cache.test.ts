import { bytesToHex, hexToBytes } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { keccak256 } from '../../../../../src/crypto/hash.ts'
import { createStateCache } from '../../../../../src/evm/calls/worker/state-cache.ts'
import { EMPTY_ROOT, encodeAccount } from '../../../../../src/state/account.ts'
import { hashedKey } from '../../../../../src/state/flat-tables.ts'
import { putStateMeta } from '../../../../../src/state/state-meta.ts'
import { BUCKETS } from '../../../../../src/storage/buckets.ts'
import { temporaryStore } from '../../../storage/temp-store.ts'

test('calls that read the code of an older state at once share one array of it', async () => {
  const store = await temporaryStore()
  const code = Uint8Array.of(0x60, 0x01)
  const codeHash = bytesToHex(keccak256(code))
  const address = `0x${'11'.repeat(20)}` as const
  const batch = store.batch()
  const account = { nonce: 1, balance: 0n, storageRoot: EMPTY_ROOT, codeHash }
  batch.put(BUCKETS.account, hashedKey(address), encodeAccount(account)).put(BUCKETS.code, hexToBytes(codeHash), code)
  putStateMeta(batch, { number: 1, root: EMPTY_ROOT, oldest: 0 })
  await batch.write()
  await createStateCache(store)({ number: 0, revision: 0 }, async state => {
    if (state.sync) throw new Error('the state of an older block is read asynchronously')
    const [one, other] = await Promise.all([state.async.code(address), state.async.code(address)])
    expect(bytesToHex(one)).toBe('0x6001')
    expect(other).toBe(one)
    state.async.release()
  })
})
