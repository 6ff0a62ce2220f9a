import { assert } from '../../util/assert.ts'
import { writeAccountRange } from './account-range.ts'
import { writeAddresses } from './modified-accounts.ts'
import { KnownAddresses } from './preimages.ts'
import { writeStorageRange } from './storage-range.ts'
import { runFirst, type TraceParts, withReplay, withState } from './trace-context.ts'
import type {
  AccountRangeRequest,
  ModifiedAccountsRequest,
  StorageRangeRequest,
  TraceBlock,
} from './worker-protocol.ts'

/* Walks through the state of a block, in the order of its hashed keys. */

export const storageRange = (parts: TraceParts, request: StorageRangeRequest): Promise<void> =>
  withReplay(parts, request.block, async (replay, body, { stored }) => {
    const { sink, stopwatch } = parts
    await runFirst(parts, replay, body, Math.min(request.after, body.count))
    await writeStorageRange(sink, stored, replay.journal.changes(), request, () => stopwatch.turn())
  })

export const accountRange = (parts: TraceParts, request: AccountRangeRequest): Promise<void> =>
  withState(parts.store, request.block.number, async ({ stored }) => {
    const { sink, store, stopwatch } = parts
    await writeAccountRange(sink, store, stored, request, () => stopwatch.turn())
  })

/** Whom a block touched: its transactions, run once more, name the addresses that the state has only hashed. */
const addTouched = (parts: TraceParts, block: TraceBlock, known: KnownAddresses): Promise<void> =>
  withReplay(parts, block, async (replay, body) => {
    await runFirst(parts, replay, body, body.count)
    const { accounts, storage } = replay.journal.changes()
    for (const address of [...accounts.keys(), ...storage.keys()]) known.add(address)
    const { miner, proposerReward, foundation } = block.env
    for (const address of [miner, proposerReward, foundation]) known.add(address)
  })

export const modifiedAccounts = async (
  parts: TraceParts,
  { blocks, credited }: ModifiedAccountsRequest,
): Promise<void> => {
  const { store, sink, stopwatch } = parts
  const [first, last] = [blocks[0], blocks.at(-1)]
  assert(first !== undefined && last !== undefined, 'there are blocks to look at')
  const known = new KnownAddresses()
  for (const address of credited) known.add(address)
  for (const block of blocks) await addTouched(parts, block, known)
  await withState(store, first.number - 1, async ({ stored }) => {
    writeAddresses(sink, await stored.changedUpTo(last.number, () => stopwatch.turn()), known)
  })
}
