import type { Hex } from '@tandem/base/bytes.ts'
import { defined } from '@tandem/base/defined.ts'
import type { NetworkName } from '../networks.ts'
import { TANDEM_FORMAT } from './genesis.ts'
import type { Predeploy } from './predeploys.ts'
import type { CouncilMember } from './types.ts'

/** Required fields of a member of the first council. */
export type GenesisMember = Pick<CouncilMember, 'name' | 'validator' | 'owner' | 'reward' | 'stakeWei'>

/** Choices of the operator who starts a chain; other values come from the network's parameters. */
export interface GenesisSettings {
  readonly network: NetworkName
  /** The network's own by default; only devnets use another. */
  readonly chainId?: number
  /** Unix seconds. */
  readonly timestamp: number
  readonly council: readonly GenesisMember[]
  readonly foundation: Hex
  /** Wei by address. */
  readonly balances: ReadonlyMap<Hex, bigint>
  readonly predeploys?: readonly Predeploy[]
  readonly blockTimeMs?: number
  readonly codeSizeLimit?: number
  /** Heights of forks that differ from the network's. */
  readonly forks?: Readonly<Record<string, number | null>>
  /** Ethereum's gas, with its block gas limit. */
  readonly ethereum?: boolean
}

/** Members that give a chain Ethereum's gas; a block may execute as much as the network's. */
const ETHEREUM_PARAMS = {
  blockGasLimit: '60000000',
  maxTxExecutionGas: null,
  calldataGasPerByte: null,
  precompilePrices: null,
  baseFee: { rule: 'eip1559' },
}

/** Returns the text of a genesis file, to be checked by parseGenesis. */
export const genesisText = (choices: GenesisSettings): string => {
  const { network, chainId, timestamp, council, foundation, balances, blockTimeMs, codeSizeLimit, forks } = choices
  const params = {
    ...defined({ blockTimeMs, codeSizeLimit, forks }),
    ...(choices.ethereum === true && ETHEREUM_PARAMS),
  }
  const document = {
    format: TANDEM_FORMAT,
    network,
    ...(chainId !== undefined && { chainId }),
    timestamp,
    council: council.map(({ stakeWei, ...member }) => ({ ...member, stake: stakeWei.toString() })),
    foundation,
    alloc: Object.fromEntries([...balances].map(([address, wei]) => [address, { balance: wei.toString() }])),
    ...(choices.predeploys !== undefined && { predeploys: choices.predeploys }),
    ...(Object.keys(params).length > 0 && { params }),
  }
  return `${JSON.stringify(document, null, 2)}\n`
}
