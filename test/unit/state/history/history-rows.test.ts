import { asBuffer, EMPTY_BYTES } from '@tandem/base/bytes.ts'
import { expect, onTestFinished, test } from 'vitest'
import { ACCOUNT_KEY_BYTES, binaryKey } from '../../../../src/state/flat-tables.ts'
import { changedKeys, HistoryWriter, pruneHistory } from '../../../../src/state/history/history-rows.ts'
import { putEditHistory } from '../../../../src/state/world/account-edit.ts'
import { BUCKETS } from '../../../../src/storage/buckets.ts'
import { Store } from '../../../../src/storage/store.ts'

/** Edits that a block of a development chain had before, each of one account, so each with an index row of its own. */
const EARLIER = 65_535
const NUMBER = 7

const keyOf = (index: number): Uint8Array => {
  const key = Buffer.alloc(ACCOUNT_KEY_BYTES)
  key.writeUInt32BE(index)
  return key
}

const edited = async (): Promise<Store> => {
  const store = await Store.open('/nowhere', { ephemeral: true })
  onTestFinished(() => store.close())
  using batch = store.batch()
  for (let part = 0; part < EARLIER; part++) {
    const history = new HistoryWriter(batch, NUMBER, part)
    history.add('account', keyOf(part), EMPTY_BYTES)
    history.finish()
  }
  await batch.write()
  return store
}

const edit = async (store: Store, index: number): Promise<void> => {
  using batch = store.batch()
  const account = new Map([[binaryKey(keyOf(index)), EMPTY_BYTES]])
  await putEditHistory(store, batch, NUMBER, { account, slot: new Map() })
  await batch.write()
}

test('no edit of a block takes the place of another, however many there are', async () => {
  const store = await edited()
  const count = EARLIER + 4
  for (let index = EARLIER; index < count; index++) await edit(store, index)
  for (const from of [NUMBER, NUMBER - 1, 0]) {
    const found: number[] = []
    for await (const { number, kind, keys } of changedKeys(store, from, NUMBER + (from === 0 ? 100 : 0))) {
      expect([number, kind]).toEqual([NUMBER, 'account'])
      for (const key of keys) found.push(asBuffer(key).readUInt32BE(0))
    }
    expect(found.length).toBe(count)
    expect(found.every((index, at) => index === at)).toBe(true)
  }
  using batch = store.batch()
  await pruneHistory(store, batch, NUMBER, NUMBER)
  await batch.write()
  for (const bucket of [BUCKETS.historyIndex, BUCKETS.accountHistory]) {
    let left = 0
    for await (const _ of store.keys(bucket)) left++
    expect(left).toBe(0)
  }
})
