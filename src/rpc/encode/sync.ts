import type { Hex } from '@tandem/base/bytes.ts'
import type { SyncStatus } from '../../chain/store/types.ts'
import { toQuantities } from './hex.ts'

/** Sync status of eth_syncing and of the syncing subscription; the last two members are present only during snapshot sync. */
export const encodeSyncStatus = ({ states, ...blocks }: SyncStatus): Record<string, Hex> => ({
  ...toQuantities(blocks),
  ...(states && toQuantities({ pulledStates: states.pulled, knownStates: states.known })),
})
