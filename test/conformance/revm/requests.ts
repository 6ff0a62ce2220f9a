import { bytesToHex, type Hex, toQuantity } from '@tandem/base/bytes.ts'
import type { EvmFork } from '../../../src/config/forks.ts'
import type { BlockEnv } from '../../../src/evm/block-env.ts'
import type { RealContract } from '../../property/evm/real-contracts.ts'
import type { MemoryState } from '../../unit/state/memory-state.ts'
import type { RpcRequest, RpcResponse } from './anvil.ts'

/* Parts of the requests that bring a world to another EVM. */

export interface RevmWorld {
  readonly messages: number
  readonly succeeded: number
  readonly requests: readonly RpcRequest[]
  /** Returns the first difference from the responses; undefined when all is equal. */
  difference(responses: readonly RpcResponse[]): string | undefined
}

export interface RevmOptions {
  readonly seed: number
  readonly fork: EvmFork
  readonly env: BlockEnv
  /** Messages of a world. */
  readonly messages: number
  /** Messages of a world that all create. */
  readonly creations: number
  readonly contracts: readonly RealContract[]
}

export const overridesOf = (state: MemoryState): Record<Hex, object> =>
  Object.fromEntries(
    [...state.accounts].map(([address, { balance, nonce, storage }]) => [
      address,
      {
        balance: toQuantity(balance),
        nonce: toQuantity(nonce),
        code: bytesToHex(state.code(address)),
        state: Object.fromEntries(storage),
      },
    ]),
  )

export const blockOverridesOf = (env: BlockEnv): object => ({
  number: toQuantity(env.number),
  time: toQuantity(env.timestamp),
  gasLimit: toQuantity(env.gasLimit),
  feeRecipient: env.miner,
  prevRandao: env.prevRandao,
  baseFeePerGas: toQuantity(env.baseFeePerGas),
})
