import type { Execution, Price } from '../execution.ts'
import type { Frame, Signal } from '../frame.ts'
import type { EvmRules } from '../rules.ts'

/** Executes a paid opcode; returns nothing when the frame continues. */
export type Operation = (frame: Frame, vm: Execution) => Signal | undefined

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
