import { bytesToHex, type Hex, toQuantity } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import type { ContractCall } from '../indexer/contract-calls.ts'
import { EXPLORER_LIMITS } from '../limits.ts'
import type { HeadCalls } from './chain-source.ts'
import type { NodeClient } from './node-client.ts'

/** Calls of contracts by eth_call on the head of a node elsewhere. */
export class RemoteCalls implements HeadCalls {
  readonly #node: NodeClient

  constructor(node: NodeClient) {
    this.#node = node
  }

  run<T>(work: (call: ContractCall) => Promise<T>): Promise<T> {
    return work((to, data) => this.#call(to, data))
  }

  async #call(to: Hex, data: Uint8Array): Promise<Uint8Array | undefined> {
    const { gas, answerBytes } = EXPLORER_LIMITS.token
    try {
      const call = { to, data: bytesToHex(data), gas: toQuantity(gas) }
      const output = (await this.#node.call('eth_call', call, 'latest')).bytes()
      return output.byteLength <= answerBytes ? output : undefined
    } catch (error) {
      if (isCoded(error) && error.code === 'NODE_REFUSED') return undefined
      throw error
    }
  }
}
