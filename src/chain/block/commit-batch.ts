import type { Certificate } from '../../primitives/consensus/certificate.ts'
import type { WorldState } from '../../state/world-state.ts'
import type { Store } from '../../storage/store.ts'
import { runSlicedWork } from '../../util/async/sliced-work.ts'
import { sliceOver } from '../../util/async/time-slice.ts'
import { earlierLookups } from '../dev/earlier-lookups.ts'
import { putProofs } from '../proof/proof-rows.ts'
import { putBlockParts } from '../store/put-block.ts'
import { putUnsynced } from '../store/unsynced-blocks.ts'
import type { BlockEnvSources } from './block-env.ts'
import type { ExecutedBlock } from './candidates.ts'
import type { Economy } from './economy.ts'

interface CommitParts {
  readonly store: Store
  readonly world: WorldState
  readonly economy: Economy
  readonly sources: Pick<BlockEnvSources, 'council' | 'params'>
}

interface DecidedRows extends ExecutedBlock {
  readonly certificate: Certificate
  /** Returns the number of the last block known to be synced to disk. */
  readonly durable: () => number
}

/** Writes all rows of a block in one batch: a crash leaves either the previous block or this one. */
export const writeCommit = async (
  { store, world, economy, sources }: CommitParts,
  { block, execution, update, proofs, certificate, durable }: DecidedRows,
): Promise<void> => {
  const { receipts, internal, failed, fees } = execution
  const { number } = block.header
  const earlier = sources.params.devHelpers ? await earlierLookups(store, block) : undefined
  const batch = store.batch()
  try {
    const rows = { block, receipts, internal, failed, earlier, certificate }
    await runSlicedWork(putBlockParts(batch, rows), sliceOver)
    putUnsynced(batch, durable())
    putProofs(batch, number, proofs)
    await economy.write(batch, number, economy.burntBy(number, fees.burnt, update.accounts.values()))
    await sources.council.write(batch, block, update)
    await world.write(batch, number, update)
  } catch (error) {
    await batch.discard()
    throw error
  }
  await batch.write({ sync: false })
}
