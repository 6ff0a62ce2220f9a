import { assert } from '@tandem/base/assert.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { DEV_LIMITS } from '../../config/limits/chain.ts'
import { DevelopmentRules } from '../../rules/development.ts'
import { pruneHistory } from '../../state/history/history-rows.ts'
import { collectRollback } from '../../state/history/rollback.ts'
import { stateRootAt, storedStateRoot } from '../../state/state-meta.ts'
import { putEditedRoot, removeUndo, undoEdits } from '../../state/world/account-edit.ts'
import type { WorldState } from '../../state/world/world-state.ts'
import type { Batch } from '../../storage/batch.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import { NUMBER_BYTES, numberKey, readNumber, writeNumber } from '../../storage/keys.ts'
import { metaKey } from '../../storage/schema.ts'
import type { Store } from '../../storage/store.ts'
import { removeProofs } from '../proof/proof-rows.ts'
import type { BlockStore } from '../store/block-store.ts'
import { cutLogIndex } from '../store/log-index.ts'
import { putHead, removeBlockRows } from '../store/put-block.ts'

/*
 * Reverts blocks, on development chains only. It works in slices from the head down; each slice is one synced batch that leaves a complete
 * shorter chain, and all but the last store the target in a row, so that the next start can continue. The first batch also increments the
 * number of rewinds: it selects the consensus log that belongs to the blocks (node/dev), so that blocks and log cannot diverge.
 */

/** State to revert to: the state after a block, with the first `edits` of its recorded edits applied. */
export interface RewindTarget {
  readonly number: number
  readonly edits: number
}

export type RewindError =
  /** The state of that block is no longer kept. */
  { readonly code: 'REWIND_TOO_FAR'; readonly number: number; readonly oldest: number }

export interface RewindParts {
  readonly development: DevelopmentRules
  readonly store: Store
  readonly blocks: BlockStore
  readonly world: WorldState
  /** Rows per batch; a longer rewind takes several. */
  readonly batchRows?: number
}

const TARGET = metaKey('rewind-target')
const COUNT = metaKey('rewinds')

/** Returns how often blocks were reverted; 0 if never. */
export const rewindCount = async (store: Store): Promise<number> => {
  const row = await store.get(BUCKETS.meta, COUNT)
  return row === undefined ? 0 : readNumber(row)
}

/** Returns the target of an interrupted rewind. */
export const interruptedRewind = async (store: Store): Promise<RewindTarget | undefined> => {
  const row = await store.get(BUCKETS.meta, TARGET)
  return row && { number: readNumber(row), edits: readNumber(row, NUMBER_BYTES) }
}

/** Reverts blocks, then edits. Resolves when the result is durable and the state has moved. Throws REWIND_TOO_FAR without any change. */
export const rewindTo = async (parts: RewindParts, target: RewindTarget): Promise<void> => {
  const { development, store, world } = parts
  DevelopmentRules.check(development)
  const { oldest } = world
  if (target.number < oldest)
    throw new CodedError<RewindError>({ code: 'REWIND_TOO_FAR', number: target.number, oldest })
  assert(target.number <= world.number, 'a rewind goes back')
  const rewinds = (await rewindCount(store)) + 1
  do await rewindSlice(parts, target, rewinds)
  while (world.number > target.number)
}

const rewindSlice = async (parts: RewindParts, target: RewindTarget, rewinds: number): Promise<void> => {
  const { store, blocks, world, batchRows = DEV_LIMITS.rewindRows } = parts
  const head = world.number
  using batch = store.batch()
  let number = head
  while (number > target.number && batch.size < batchRows) await removeBlock(batch, store, number--)
  const back = await collectRollback(store, number, head, Number.MAX_SAFE_INTEGER)
  assert(back !== undefined, 'a rewind has no limit of entries')
  const values = { account: new Map(back.account), slot: new Map(back.slot) }
  const isLast = number === target.number
  const undone = isLast ? undoEdits(store, batch, number, target.edits, values) : 0
  const rooted = await world.rootOfValues(values)
  const left = await stateRootAt(store, number)
  assert(undone > 0 || rooted.root === left, 'old values lead back to the old root')
  await pruneHistory(store, batch, number + 1, head)
  putEditedRoot(batch, number, rooted.root, await storedStateRoot(store, numberKey(number)))
  world.writeValues(batch, number, rooted)
  putHead(batch, number)
  cutLogIndex(batch, store, number)
  if (head > number) batch.put(BUCKETS.meta, COUNT, numberKey(rewinds))
  if (isLast) batch.del(BUCKETS.meta, TARGET)
  else batch.put(BUCKETS.meta, TARGET, targetRow(target))
  await batch.write()
  blocks.forget()
  await world.replaced(number, rooted)
}

const targetRow = ({ number, edits }: RewindTarget): Uint8Array =>
  writeNumber(writeNumber(new Uint8Array(2 * NUMBER_BYTES), 0, number), NUMBER_BYTES, edits)

/** Adds the removal of all rows of a block except its state to the batch. */
export const removeBlock = async (batch: Batch, store: Store, number: number): Promise<void> => {
  removeProofs(batch, await removeBlockRows(batch, store, number))
  for (const bucket of ONLY_REWOUND) batch.del(bucket, numberKey(number))
  removeUndo(store, batch, number)
}

const ONLY_REWOUND = [BUCKETS.supply, BUCKETS.council, BUCKETS.cycle, BUCKETS.editedRoot] as const
