import { concatBytes, type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { type EngineOptions, engineCounts } from '../../../../src/evm/engine.ts'
import { loadEngine } from '../../../../src/evm/engines/select-engine.ts'
import { Journal } from '../../../../src/state/journal/journal.ts'
import type { StateReader } from '../../../../src/state/state-reader.ts'
import { nextStorageVersion } from '../../../../src/state/state-reader.ts'
import { env, funded, key, withCode } from '../world.ts'

/* Slots that the module keeps between messages (docs/design/evm-engine.md#slots-between-messages). */

const sender = key(1)
const TARGET: Hex = `0x${'cc'.repeat(20)}`
/** Reads the slots from the first to before the second word of its input, then sets slot 0 to the third and returns what it was. */
const CODE = hexToBytes('0x5f355b8054506001018060203511600257505f545f526040355f5560205ff3')
const words = (...values: readonly number[]): Uint8Array =>
  concatBytes(...values.map(value => hexToBytes(toWord(BigInt(value)))))

/** A contract on a state whose version is told and whose reads of slots are counted. */
const counted = () => {
  const state = withCode(funded([sender]), TARGET, CODE)
  const reader = {
    storageVersion: nextStorageVersion(),
    slots: 0,
    account: (address: Hex) => state.account(address),
    storage(address: Hex, slot: Hex): Hex {
      reader.slots++
      return state.storage(address, slot)
    },
    code: (address: Hex) => state.code(address),
  }
  return reader
}

const block = env()
const run = async (from: StateReader | Journal, data: Uint8Array, options: EngineOptions = {}) => {
  const engine = await loadEngine('wasm')
  const journal = from instanceof Journal ? from : new Journal(from)
  const message = { from: sender.address, to: TARGET, value: 0n, data, gas: 90_000_000n, gasPrice: 1n, accessList: [] }
  const result = await engine.run(journal, block, message, options)
  expect(result.failure).toBeNull()
  return { was: Number(result.output.at(-1)), gasUsed: result.gasUsed }
}

test('a call on the same state reads no slot again, and pays as much', async () => {
  const reader = counted()
  const first = await run(reader, words(1, 500, 7), { discards: true })
  const { slots } = reader
  expect(slots).toBe(500)
  expect(await run(reader, words(1, 500, 8), { discards: true })).toEqual(first)
  expect(reader.slots).toBe(slots)
  reader.storageVersion = nextStorageVersion()
  await run(reader, words(1, 500, 9), { discards: true })
  expect(reader.slots).toBe(2 * slots)
})

test('changes stay where the journal keeps them and go where it does not', async () => {
  const reader = counted()
  const journal = new Journal(reader)
  const write = (value: number) => run(journal, words(1, 2, value))
  expect((await write(1)).was).toBe(0)
  journal.endTransaction()
  const mark = journal.checkpoint()
  expect((await write(2)).was).toBe(1)
  journal.revert(mark)
  expect((await write(3)).was).toBe(1)
  journal.endTransaction()
  journal.setStorage(TARGET, toWord(0n), toWord(9n))
  expect((await write(4)).was).toBe(9)
  // Another journal on the same state sees none of it.
  expect((await run(reader, words(1, 2, 5))).was).toBe(0)
})

test('state that moves while a message runs leaves nothing behind', async () => {
  const reader = counted()
  await run(reader, words(1, 2, 1), { discards: true })
  const before = reader.slots
  const engine = await loadEngine('wasm')
  const journal = new Journal(reader)
  const storage = reader.storage
  reader.storage = (address, slot) => {
    reader.storageVersion = nextStorageVersion()
    return storage(address, slot)
  }
  const message = { from: sender.address, to: TARGET, value: 0n, gas: 90_000_000n, gasPrice: 1n, accessList: [] }
  await engine.run(journal, block, { ...message, data: words(2, 3, 1) }, { discards: true })
  reader.storage = storage
  const during = reader.slots
  await run(reader, words(2, 3, 1), { discards: true })
  expect(during).toBeGreaterThan(before)
  expect(reader.slots).toBeGreaterThan(during)
})

test('slots of earlier messages give way to those of the next', async () => {
  const reader = counted()
  await run(reader, words(1, 4_000, 1), { discards: true })
  const { elsewhere } = engineCounts
  // Together more than the first layout has room for.
  await run(reader, words(10_000, 16_000, 1), { discards: true })
  expect(engineCounts.elsewhere).toBe(elsewhere)
  await run(reader, words(1, 4_000, 1), { discards: true })
})
