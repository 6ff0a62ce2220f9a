import type { SyncStatus } from '../../chain/types.ts'
import { type Hex, toQuantity } from '../../util/bytes.ts'

/** How far a node has come, as eth_syncing and its subscription say it; the last two only while a snapshot of the state is fetched. */
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
