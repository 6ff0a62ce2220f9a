import type { Hex } from '../util/bytes.ts'
import type { Log } from './log.ts'

export interface Receipt {
  readonly type: number
  /** Byzantium and later. */
  readonly status?: 0 | 1
  /** Post-transaction state root, before Byzantium (fixture mode only). */
  readonly root?: Hex
  readonly cumulativeGasUsed: bigint
  readonly gasUsed: bigint
  readonly effectiveGasPrice: bigint
  readonly contractAddress: Hex | null
  readonly logsBloom: Uint8Array
  readonly logs: readonly Log[]
  readonly blobGasUsed?: bigint
  readonly blobGasPrice?: bigint
}
