import type { Hex } from '@tandem/base/bytes.ts'
import { expect, onTestFinished, test, vi } from 'vitest'
import { STATE_LIMITS } from '../../../../src/config/limits/storage.ts'
import { Journal } from '../../../../src/state/journal/journal.ts'
import { Trie } from '../../../../src/state/trie/trie.ts'
import { packChanges } from '../../../../src/state/update/pack-changes.ts'
import { address, word } from '../memory-state.ts'
import { type TestWorld, temporaryWorld } from '../world.ts'

const [ALICE, BOB] = [address(1), address(2)]

const pay = (t: TestWorld, wei: bigint, who = ALICE): Journal => {
  const journal = t.world.journal()
  journal.addBalance(who, wei)
  journal.setStorage(who, word(1), word(wei))
  journal.endTransaction()
  return journal
}

/** The changes of journals that stand one on the other, as blocks would. */
const stacked = (base: Journal, ...edits: readonly ((journal: Journal) => void)[]) => {
  let journal = base
  return edits.map(edit => {
    journal = new Journal(journal)
    edit(journal)
    journal.endTransaction()
    return packChanges(journal.changes())
  })
}

test('the roots are those the same blocks get when they are committed', async () => {
  const t = await temporaryWorld()
  await t.commit(pay(t, 10n))
  const batches = stacked(
    t.world.journal(),
    journal => journal.addBalance(BOB, 5n),
    journal => journal.setStorage(ALICE, word(1), word(0)),
    journal => journal.deleteAccount(BOB),
  )
  const roots = await t.world.preview(0, batches)
  const committed: Hex[] = []
  for (const edit of [
    (journal: Journal) => journal.addBalance(BOB, 5n),
    (journal: Journal) => journal.setStorage(ALICE, word(1), word(0)),
    (journal: Journal) => journal.deleteAccount(BOB),
  ]) {
    const journal = t.world.journal()
    edit(journal)
    journal.endTransaction()
    committed.push((await t.commit(journal)).root)
  }
  expect(roots).toEqual(committed)
  // The same from the block they were previewed on, which is an older one now.
  expect(await t.world.preview(0, batches)).toEqual(committed)
})

test('blocks are applied once while their number grows, also on an older block, and are gone with the next other call', async () => {
  const t = await temporaryWorld()
  await t.commit(pay(t, 10n))
  const edits = Array.from({ length: 20 }, (_, i) => (journal: Journal) => journal.addBalance(BOB, BigInt(i + 1)))
  const batches = stacked(t.world.journal(), ...edits)
  const all = await t.world.preview(0, batches)
  const proof = await t.world.prove(0, ALICE, [word(1)])
  const applied = vi.spyOn(Trie.prototype, 'apply')
  onTestFinished(() => applied.mockRestore())
  for (const [i] of batches.entries())
    expect(await t.world.preview(0, batches.slice(0, i + 1))).toEqual(all.slice(0, i + 1))
  expect(applied).toHaveBeenCalledTimes(batches.length)
  // Others that begin with the same ones.
  const [, second] = stacked(t.world.journal(), edits[0]!, edits[5]!)
  const [first, other] = await t.world.preview(0, [batches[0]!, second!])
  expect(first).toBe(all[0])
  expect(all).not.toContain(other)
  expect(await t.world.prove(0, ALICE, [word(1)])).toEqual(proof)
  await t.commit(pay(t, 1n))
  applied.mockClear()
  for (const [i] of batches.entries()) await t.world.preview(0, batches.slice(0, i + 1))
  // The rollback comes on top.
  expect(applied).toHaveBeenCalledTimes(batches.length + 1)
  expect(await t.world.preview(0, batches)).toEqual(all)
})

test('a block too far back is refused, and one that is not there', async () => {
  const t = await temporaryWorld()
  await t.commit(pay(t, 10n))
  const journal = t.world.journal()
  for (let i = 0; i <= STATE_LIMITS.proofRollbackEntries; i++) journal.setBalance(address(100 + i), 1n)
  journal.endTransaction()
  await t.commit(journal)
  await expect(t.world.preview(0, [])).rejects.toMatchObject({ code: 'PROOF_TOO_DEEP' })
  await expect(t.world.preview(7, [])).rejects.toMatchObject({ code: 'MISSING_STATE' })
})
