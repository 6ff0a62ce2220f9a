import type { MethodTable } from '../../router/method.ts'
import { accountMethods, anvilAccounts } from './accounts.ts'
import { anvilBlocks, blockMethods } from './blocks.ts'
import { anvilTime, evm } from './time.ts'

/** Helper methods of development chains, by the names of hardhat and anvil (docs/dev-helpers.md). */
export const dev: MethodTable = {
  ...evm,
  ...accountMethods('hardhat'),
  ...blockMethods('hardhat'),
  ...accountMethods('anvil'),
  ...blockMethods('anvil'),
  ...anvilTime,
  ...anvilAccounts,
  ...anvilBlocks,
}
