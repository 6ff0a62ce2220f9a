import type { Hex } from '../util/bytes.ts'

/** The London header in its usual order; later members only where a custom genesis activates their fork (fixture mode). */
export interface Header {
  readonly parentHash: Hex
  readonly sha3Uncles: Hex
  readonly miner: Hex
  readonly stateRoot: Hex
  readonly transactionsRoot: Hex
  readonly receiptsRoot: Hex
  readonly logsBloom: Uint8Array
  readonly difficulty: bigint
  readonly number: number
  readonly gasLimit: bigint
  readonly gasUsed: bigint
  /** Unix seconds. */
  readonly timestamp: number
  readonly extraData: Uint8Array
  readonly mixHash: Hex
  readonly nonce: Hex
  readonly baseFeePerGas?: bigint
  readonly withdrawalsRoot?: Hex
  readonly blobGasUsed?: bigint
  readonly excessBlobGas?: bigint
  readonly parentBeaconBlockRoot?: Hex
  readonly requestsHash?: Hex
}
