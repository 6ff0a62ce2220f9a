import type { Hex } from '@tandem/base/bytes.ts'
import { genesisText } from '../../config/genesis/genesis-text.ts'
import { type Genesis, parseGenesis } from '../../config/genesis.ts'

interface DevnetGenesisOptions {
  readonly accounts: readonly Hex[]
  readonly balanceWei: bigint
  readonly validator: Hex
  readonly blockTimeMs: number
  readonly chainId?: number
  readonly codeSizeLimit?: number
  /** Unix seconds. */
  readonly timestamp?: number
}

/** Fixed, so that equal options make equal chains: 2025-01-01T00:00:00Z. */
const TIMESTAMP = 1_735_689_600
const STAKE = 35n * 10n ** 18n

/** Genesis of a development chain: one validator, which is also the foundation, and funded accounts. */
export const devnetGenesis = (options: DevnetGenesisOptions): Genesis => {
  const { accounts, balanceWei, validator, blockTimeMs, chainId, codeSizeLimit, timestamp = TIMESTAMP } = options
  return parseGenesis(
    genesisText({
      network: 'devnet',
      ...(chainId !== undefined && { chainId }),
      timestamp,
      council: [{ name: 'devnet', validator, owner: validator, reward: validator, stakeWei: STAKE }],
      foundation: validator,
      balances: new Map(accounts.map(address => [address, balanceWei])),
      blockTimeMs,
      ...(codeSizeLimit !== undefined && { codeSizeLimit }),
    }),
  )
}
