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

  /** Sets a base fee for the next block only, other fields for all later blocks. */
  set(fields: NextBlockFields): void {
    this.#current = { ...this.#current, ...fields }
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
