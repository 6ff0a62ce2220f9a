import type { Hex } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { STATE_LIMITS } from '../../../../src/config/limits/storage.ts'
import { Journal } from '../../../../src/state/journal/journal.ts'
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
