import type { FaucetCaps } from '../../config/limits/faucet.ts'
import type { OutputFlags } from '../shared/options/options.ts'
import type { ProxyFlags } from '../shared/options/proxy-options.ts'

/** Parsed options of `tandem faucet`. */
export interface FaucetFlags extends ProxyFlags, OutputFlags, FaucetCaps {
  readonly rpc: string
  readonly key: string
  readonly passwordFile?: string
  readonly datadir: string
  readonly chainId?: number
  readonly host: string
  readonly port: number
}
