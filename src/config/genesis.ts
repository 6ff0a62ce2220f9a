import type { Hex } from '../util/bytes.ts'
import type { Nonce } from '../util/nonce.ts'
import type { BlobParams } from './blobs.ts'
import { parseGethGenesis } from './genesis/geth-format.ts'
import { GenesisValue } from './genesis/json-reader.ts'
import { parseTandemGenesis, TANDEM_FORMAT } from './genesis/tandem-format.ts'
import type { NetworkName, NetworkParams } from './networks.ts'

/** A validator as it is registered. */
export interface CouncilMember {
  readonly name: string
  /** The address that votes and proposes. */
  readonly validator: Hex
  /** The account whose stake it is, which votes on admissions. */
  readonly owner: Hex
  /** Where its pay goes. */
  readonly reward: Hex
  /** Number of its admission to the council, never given twice; those of genesis have 1, 2, ... in their order. */
  readonly admission: number
  readonly stakeWei: bigint
}

/** An account of block 0. */
export interface GenesisAccount {
  readonly balance: bigint
  readonly nonce: Nonce
  readonly code: Uint8Array
  /** 32-byte slot -> 32-byte word; no zero words. */
  readonly storage: ReadonlyMap<Hex, Hex>
}

/** What a genesis file decides of the header of block 0; the rest follows from the state and the forks. */
export interface GenesisHeaderFields {
  readonly parentHash: Hex
  readonly miner: Hex
  readonly difficulty: bigint
  readonly number: number
  readonly gasLimit: bigint
  readonly gasUsed: bigint
  readonly timestamp: number
  readonly mixHash: Hex
  readonly nonce: Hex
  /** undefined: London is not active at block 0. */
  readonly baseFeePerGas?: bigint
  readonly blobGasUsed?: bigint
  readonly excessBlobGas?: bigint
}

/** A fork of a geth-style genesis that begins at a time, which only the fixture mode follows. */
export interface TimeFork {
  readonly name: string
  /** Unix seconds. */
  readonly time: number
}

/** How a genesis says what no header member of its own holds. */
export type GenesisStyle =
  | {
      readonly format: 'tandem'
      readonly network: NetworkName
      /** At most 32 bytes of the operator's choice. */
      readonly vanity: Uint8Array
      /** Canonical text of the parameters the file sets, forks left out: what the genesis hash pins (see genesis-block.ts). */
      readonly pinnedParams: string
    }
  | {
      readonly format: 'geth'
      readonly extraData: Uint8Array
      /** null: never, or from the start when `paris` stands in the forks. */
      readonly terminalTotalDifficulty: bigint | null
      /** Ascending by time. */
      readonly timeForks: readonly TimeFork[]
      /** Figures of blobs by fork, where the file names them (EIP-7840). */
      readonly blobSchedule: ReadonlyMap<string, BlobParams>
      /** Whose logs are deposits (EIP-6110). */
      readonly depositContract: Hex
      /** The file as read, for the EthereumJS oracle. */
      readonly document: unknown
    }

/** A genesis file, checked. */
export interface Genesis {
  readonly style: GenesisStyle
  readonly params: NetworkParams
  readonly header: GenesisHeaderFields
  readonly alloc: ReadonlyMap<Hex, GenesisAccount>
  /** Empty for a geth-style file. */
  readonly council: readonly CouncilMember[]
  /** The zero address for a geth-style file. */
  readonly foundation: Hex
}

/** What is wrong with a genesis file, where (`alloc.0x12.balance`), and what to do about it. */
export type GenesisError = { readonly code: 'GENESIS_INVALID'; readonly path: string; readonly problem: string }

/** Parses the text of a genesis file: Tandem's own format or geth's. Throws CodedError<GenesisError>. */
export const parseGenesis = (text: string): Genesis => {
  const root = GenesisValue.fromText(text)
  if (root.has('format')) return parseTandemGenesis(root)
  if (root.has('config')) return parseGethGenesis(root)
  return root.fail(`neither Tandem's format (give "format": "${TANDEM_FORMAT}") nor geth's (which has "config")`)
}
