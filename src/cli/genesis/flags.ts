import type { Hex } from '@tandem/base/bytes.ts'
import type { NetworkName } from '../../config/networks.ts'
import type { Fund, ValidatorSpec } from './specs.ts'

/** Parsed options of `tandem genesis new`. */
export interface GenesisFlags {
  readonly network?: NetworkName
  readonly chainId?: number
  readonly validator?: readonly ValidatorSpec[]
  readonly foundation?: Hex
  readonly fund?: readonly Fund[]
  readonly blockTime?: number
  readonly timestamp: number
  readonly out: string
  readonly json: boolean
}
