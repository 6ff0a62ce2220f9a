import type { Hex } from '@tandem/base/bytes.ts'
import { DEVNET_FORKS, type DevnetFork } from '../../config/forks.ts'
import { type Genesis, parseGenesis } from '../../config/genesis/genesis.ts'
import { genesisText } from '../../config/genesis/genesis-text.ts'
import { PREDEPLOYS } from '../../config/genesis/predeploys.ts'

interface DevnetGenesisOptions {
  readonly accounts: readonly Hex[]
  readonly balanceWei: bigint
  readonly validator: Hex
  readonly blockTimeMs: number
  readonly chainId?: number
  readonly codeSizeLimit?: number
  /** Ethereum's gas, and chain id where none is named, as tools expect of a development chain. */
  readonly ethereum?: boolean
  /** Newest fork of the chain; the network's own by default. */
  readonly hardfork?: DevnetFork
  /** With the well-known contracts. */
  readonly hasPredeploys?: boolean
  /** Unix seconds. */
  readonly timestamp?: number
}

/** Fixed, so that equal options make equal chains: 2025-01-01T00:00:00Z. */
const TIMESTAMP = 1_735_689_600
/** Chain id of anvil and hardhat. */
const TOOLS_CHAIN_ID = 31_337
const STAKE = 35n * 10n ** 18n

/** Genesis of a development chain: one validator, which is also the foundation, and funded accounts. */
export const devnetGenesis = (options: DevnetGenesisOptions): Genesis => {
  const { accounts, balanceWei, validator, blockTimeMs, codeSizeLimit, timestamp = TIMESTAMP } = options
  const { ethereum = false, chainId = ethereum ? TOOLS_CHAIN_ID : undefined, hardfork } = options
  const next = DEVNET_FORKS[DEVNET_FORKS.indexOf(hardfork ?? 'osaka') + 1]
  return parseGenesis(
    genesisText({
      network: 'devnet',
      ...(chainId !== undefined && { chainId }),
      timestamp,
      council: [{ name: 'devnet', validator, owner: validator, reward: validator, stakeWei: STAKE }],
      foundation: validator,
      balances: new Map(accounts.map(address => [address, balanceWei])),
      blockTimeMs,
      ...(options.hasPredeploys === true && { predeploys: PREDEPLOYS }),
      ...(codeSizeLimit !== undefined && { codeSizeLimit }),
      // Later ones wait for it.
      ...(next !== undefined && { forks: { [next]: null } }),
      ethereum,
    }),
  )
}
