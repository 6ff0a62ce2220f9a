import type { EvmRules } from '../rules.ts'
import type { Operation, Price } from '../transaction/execution.ts'

export interface OperationEntry {
  readonly op: number
  /** Fixed part of the price. */
  readonly gas: number | ((rules: EvmRules) => number)
  readonly price: Price | undefined
  readonly operation: Operation
}

export const entry = (
  op: number,
  gas: OperationEntry['gas'],
  operation: Operation,
  price: Price | undefined = undefined,
): OperationEntry => ({ op, gas, price, operation })
