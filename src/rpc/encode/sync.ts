import { type Hex, toQuantity } from '@tandem/base/bytes.ts'
import type { SyncStatus } from '../../chain/store/types.ts'

/** Sync status of eth_syncing and of the syncing subscription; the last two members are present only during snapshot sync. */
export const encodeSyncStatus = ({
  startingBlock,
  currentBlock,
  highestBlock,
  states,
}: SyncStatus): Record<string, Hex> => ({
  startingBlock: toQuantity(startingBlock),
  currentBlock: toQuantity(currentBlock),
  highestBlock: toQuantity(highestBlock),
  ...(states && { pulledStates: toQuantity(states.pulled), knownStates: toQuantity(states.known) }),
})
