import type { Hex } from '@tandem/base/bytes.ts'
import { InvalidArgumentError, Option } from 'commander'
import type { Checkpoint } from '../../chain/snapshot/sync/snapshot-selector.ts'
import { SNAPSHOT_LIMITS } from '../../config/limits/sync.ts'
import { integerOption } from '../shared/options/options.ts'

/** NUMBER:HASH. */
export const checkpoint = (text: string): Checkpoint => {
  const [, digits, hash] = /^(\d{1,15}):(0x[0-9a-fA-F]{64})$/.exec(text) ?? []
  if (digits === undefined || hash === undefined)
    throw new InvalidArgumentError('It must be a block number and its hash: 1728000:0x and 64 hex digits.')
  return { number: Number(digits), hash: hash.toLowerCase() as Hex }
}

/** Options of sync and of the snapshots served to others. */
export const syncOptions = (): readonly Option[] => [
  new Option(
    '--sync <mode>',
    'how a new node gets to the head: full fetches and executes every block; snapshot takes the state of a recent block, then the blocks before it',
  )
    .choices(['full', 'snapshot'])
    .default('full'),
  new Option(
    '--checkpoint <number:hash>',
    'a block that must be of the chain; needed with --sync snapshot on a chain older than two weeks',
  ).argParser(checkpoint),
  new Option(
    '--snapshot-interval <blocks>',
    'blocks between two snapshots kept for new nodes, rounded up to whole cycles; 0 makes none',
  )
    .argParser(integerOption(0, 1_000_000_000))
    .default(SNAPSHOT_LIMITS.intervalBlocks),
]
