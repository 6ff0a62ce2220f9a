import type { Hex } from '@tandem/base/bytes.ts'
import type { NetworkParams } from '../../config/networks.ts'
import type { Header } from '../../primitives/header.ts'
import { DevelopmentRules } from '../../rules/development.ts'
import { nextBaseFee } from '../../rules/money/base-fee.ts'
import type { NextBlockFields } from '../block/block-env.ts'

/** Settings of the next blocks of a development chain, which override the rules. */
export class NextBlockSettings {
  readonly #params: NetworkParams
  #current: NextBlockFields = {}

  constructor(params: NetworkParams, development: DevelopmentRules) {
    DevelopmentRules.check(development)
    this.#params = params
  }

  get current(): NextBlockFields {
    return this.#current
  }

  /** Base fee in wei, for the next block only. */
  setNextBaseFee(baseFeePerGas: bigint): void {
    this.#current = { ...this.#current, baseFeePerGas }
  }

  /** For all later blocks. */
  setCoinbase(miner: Hex): void {
    this.#current = { ...this.#current, miner }
  }

  /** For all later blocks. */
  setGasLimit(gasLimit: bigint): void {
    this.#current = { ...this.#current, gasLimit }
  }

  /** Returns the base fee of the child of a header, wei. */
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
