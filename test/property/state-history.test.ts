import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EMPTY_CODE_HASH } from '../../src/state/account.ts'
import { openStateReader } from '../../src/state/history/stored-state.ts'
import type { AsyncStateReader, StateReader } from '../../src/state/state-reader.ts'
import { verifyState } from '../../src/state/world/verify-state.ts'
import { BUCKETS } from '../../src/storage/buckets.ts'
import { MemoryState } from '../unit/state/memory-state.ts'
import { ADDRESSES, type BlockActions, blocks, run, SLOTS } from '../unit/state/random-blocks.ts'
import { referenceRoot, TestWorld } from '../unit/state/world.ts'

const seed = Number(process.env['SEED'] ?? 20_250_217)

interface Played {
  readonly test: TestWorld
  /** State and root after each block, 0 first. */
  readonly states: readonly MemoryState[]
}

const play = async (
  path: string,
  chain: readonly BlockActions[],
  stateHistory: number | 'archive',
): Promise<Played> => {
  const world = await TestWorld.open(path, { stateHistory })
  const states: MemoryState[] = []
  let state = new MemoryState()
  for (const actions of chain) {
    const journal = world.world.journal()
    run(journal, actions)
    state = state.with(journal.changes())
    states.push(state)
    await world.commit(journal)
  }
  return { test: world, states }
}

const expectState = async (reader: AsyncStateReader | StateReader, state: MemoryState): Promise<void> => {
  for (const who of ADDRESSES) {
    const found = await reader.account(who)
    const expected = state.accounts.get(who)
    expect(found && [found.nonce, found.balance, found.codeHash]).toEqual(
      expected && [expected.nonce, expected.balance, expected.codeHash],
    )
    expect(Buffer.from(await reader.code(who))).toEqual(Buffer.from(state.code(who)))
    for (const slot of SLOTS) expect(await reader.storage(who, slot)).toBe(state.storage(who, slot))
  }
}

const withDirectory = async (use: (path: string) => Promise<void>): Promise<void> => {
  const path = await mkdtemp(join(tmpdir(), 'tandem-state-'))
  try {
    await use(join(path, 'db'))
  } finally {
    await rm(path, { recursive: true, force: true })
  }
}

test('every block of an archive reads as it was, and proves its root', async () => {
  await fc.assert(
    fc.asyncProperty(blocks(8), chain =>
      withDirectory(async path => {
        const { test: played, states } = await play(path, chain, 'archive')
        for (const [number, state] of states.entries()) {
          const reader = await openStateReader(played.store, number)
          await expectState(reader, state)
          await expectState((await reader.overlay()) as StateReader, state)
          if (reader.sync !== undefined) await expectState(reader.sync, state)
          reader.release()
          for (const who of ADDRESSES.slice(0, 2)) {
            const proof = await played.world.prove(number, who, SLOTS)
            expect(proof.codeHash).toBe(state.accounts.get(who)?.codeHash ?? EMPTY_CODE_HASH)
            expect(proof.storageProof.map(({ value }) => value)).toEqual(
              SLOTS.map(at => BigInt(state.storage(who, at))),
            )
          }
        }
        await played.close()
      }),
    ),
    { seed, numRuns: 25 },
  )
})

test('the root, the head and the tables after every chain are those of the reference', async () => {
  await fc.assert(
    fc.asyncProperty(blocks(5), chain =>
      withDirectory(async path => {
        const { test: played, states } = await play(path, chain, 3)
        const last = states.at(-1) as MemoryState
        expect(played.world.root).toBe(await referenceRoot(last))
        for (const who of ADDRESSES) {
          for (const slot of SLOTS) expect(played.world.head.storage(who, slot)).toBe(last.storage(who, slot))
          expect(played.world.head.account(who)?.balance).toBe(last.accounts.get(who)?.balance)
        }
        expect(await verifyState(played.store)).toMatchObject({ root: played.world.root, problems: [] })
        await played.close()
        const reopened = await TestWorld.open(path, { stateHistory: 3 })
        expect(reopened.world.root).toBe(played.world.root)
        await reopened.close()
      }),
    ),
    { seed, numRuns: 40 },
  )
})

test('pruning keeps exactly the history asked for', async () => {
  await fc.assert(
    fc.asyncProperty(blocks(9), fc.integer({ min: 1, max: 4 }), (chain, stateHistory) =>
      withDirectory(async path => {
        const { test: played, states } = await play(path, chain, stateHistory)
        const head = states.length - 1
        const oldest = Math.max(0, head - stateHistory)
        expect(played.world.oldest).toBe(oldest)
        for (let number = 0; number <= head; number++) {
          if (number < oldest) {
            await expect(openStateReader(played.store, number)).rejects.toMatchObject({
              detail: { code: 'MISSING_STATE', root: await referenceRoot(states[number] as MemoryState) },
            })
            continue
          }
          const reader = await openStateReader(played.store, number)
          await expectState(reader, states[number] as MemoryState)
          reader.release()
        }
        for (const bucket of [BUCKETS.accountHistory, BUCKETS.slotHistory, BUCKETS.historyIndex]) {
          for await (const key of played.store.keys(bucket)) {
            const at = bucket === BUCKETS.historyIndex ? 0 : key.byteLength - 8
            expect(Buffer.from(key).readUInt32BE(at + 4)).toBeGreaterThan(oldest)
          }
        }
        await played.close()
      }),
    ),
    { seed, numRuns: 25 },
  )
})
