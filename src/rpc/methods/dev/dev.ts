import type { MethodTable } from '../../router/method.ts'
import { accountsOf, anvilAccounts } from './accounts.ts'
import { anvilBlocks, blocksOf } from './blocks.ts'
import { anvilTime, evm } from './time.ts'

/** Helpers of development chains, by the names that hardhat's and anvil's clients know (docs/dev-helpers.md). */
export const dev: MethodTable = {
  ...evm,
  ...accountsOf('hardhat'),
  ...blocksOf('hardhat'),
  ...accountsOf('anvil'),
  ...blocksOf('anvil'),
  ...anvilTime,
  ...anvilAccounts,
  ...anvilBlocks,
}
