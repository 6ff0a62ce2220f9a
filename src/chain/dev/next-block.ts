import type { NetworkParams } from '../../config/networks.ts'
import type { Header } from '../../primitives/header.ts'
import { nextBaseFee } from '../../rules/base-fee.ts'
import type { Hex } from '../../util/bytes.ts'
import type { NextBlockFields } from '../block/block-env.ts'

/** What a development chain was told of its next blocks, in place of what the rules say. */
export class NextBlockSettings {
  readonly #params: NetworkParams
  #current: NextBlockFields = {}

  constructor(params: NetworkParams) {
    this.#params = params
  }

  get current(): NextBlockFields {
    return this.#current
  }

  /** Wei; for the next block only. */
  setNextBaseFee(baseFeePerGas: bigint): void {
    this.#current = { ...this.#current, baseFeePerGas }
  }

  /** For all blocks from now on. */
  setCoinbase(miner: Hex): void {
    this.#current = { ...this.#current, miner }
  }

  /** For all blocks from now on. */
  setGasLimit(gasLimit: bigint): void {
    this.#current = { ...this.#current, gasLimit }
  }

  /** Base fee of the child of a header, wei. */
  baseFeeAfter(header: Header): bigint {
    return this.#current.baseFeePerGas ?? nextBaseFee(header, this.#params.baseFee)
  }

  onBlock(): void {
    const { baseFeePerGas: _, ...lasting } = this.#current
    this.#current = lasting
  }

  restore(choices: NextBlockFields): void {
    this.#current = choices
  }
}
