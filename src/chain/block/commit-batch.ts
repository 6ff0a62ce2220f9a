import { assert } from '@tandem/base/assert.ts'
import { runSlicedWork } from '@tandem/base/async/sliced-work.ts'
import { sliceOver } from '@tandem/base/async/time-slice.ts'
import type { Certificate } from '../../primitives/consensus/certificate.ts'
import type { WorldState } from '../../state/world/world-state.ts'
import type { Batch } from '../../storage/batch.ts'
import type { Store } from '../../storage/store.ts'
import { putProofs } from '../proof/proof-rows.ts'
import { putBlockRows, putHead } from '../store/put-block.ts'
import { putUnsynced } from '../store/unsynced-blocks.ts'
import type { BlockEnvSources } from './block-env.ts'
import type { ExecutedBlock } from './block-work.ts'
import type { Economy } from './economy.ts'

interface CommitParts {
  readonly store: Store
  readonly world: WorldState
  readonly economy: Economy
  readonly sources: Pick<BlockEnvSources, 'council' | 'params'>
}

/** Block with the certificate that decided it. */
export interface BlockToCommit extends ExecutedBlock {
  readonly certificate: Certificate
}

/** Writes all rows of blocks that follow each other in one batch, so a crash leaves whole blocks. `durable` returns the last block known to be synced to disk. */
export const writeCommit = async (
  parts: CommitParts,
  run: readonly BlockToCommit[],
  durable: () => number,
): Promise<void> => {
  using batch = parts.store.batch()
  for (const sealed of run) await putCommit(parts, batch, sealed)
  const [first, last] = [run[0], run.at(-1)]
  assert(first && last, 'there is a block to write')
  putHead(batch, last.block.header.number)
  putUnsynced(batch, durable())
  await parts.world.write(batch, first.block.header.number, ...run.map(({ update }) => update))
  await batch.write({ sync: false })
}

/** Adds the rows of a block besides its state. */
const putCommit = async (
  { economy, sources }: CommitParts,
  batch: Batch,
  { block, execution, update, proofs, certificate }: BlockToCommit,
): Promise<void> => {
  const { receipts, internal, failed, fees } = execution
  const { number } = block.header
  await runSlicedWork(putBlockRows(batch, { block, receipts, internal, failed, certificate }), sliceOver)
  putProofs(batch, number, proofs)
  await economy.write(batch, number, economy.burntBy(number, fees.burnt, update.accounts.values()))
  await sources.council.write(batch, block, update)
}
