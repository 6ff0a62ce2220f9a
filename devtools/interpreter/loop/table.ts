import { EVM_FORKS, type EvmFork } from '../../../src/config/forks.ts'
import { SHAPES } from '../../../src/evm/opcodes.ts'
import { FAULTS } from '../fault.ts'
import { ACCOUNT_OPERATIONS } from '../operations/accounts.ts'
import { ARITHMETIC } from '../operations/arithmetic.ts'
import { CALL_OPERATIONS } from '../operations/calls.ts'
import { CREATION_OPERATIONS } from '../operations/creations.ts'
import { END_OPERATIONS } from '../operations/ends.ts'
import { ENVIRONMENT } from '../operations/environment.ts'
import { MEMORY_OPERATIONS } from '../operations/memory.ts'
import type { OperationEntry } from '../operations/operation.ts'
import { STACK_OPERATIONS } from '../operations/stack.ts'
import { STORAGE_OPERATIONS } from '../operations/storage.ts'
import type { EvmRules } from '../rules.ts'
import type { OpcodeTable, Operation, Price } from '../transaction/execution.ts'

const ENTRIES: readonly OperationEntry[] = [
  ...ARITHMETIC,
  ...STACK_OPERATIONS,
  ...ENVIRONMENT,
  ...MEMORY_OPERATIONS,
  ...STORAGE_OPERATIONS,
  ...ACCOUNT_OPERATIONS,
  ...CALL_OPERATIONS,
  ...CREATION_OPERATIONS,
  ...END_OPERATIONS,
]

/** Opcodes added after Frontier. */
const SINCE: readonly (readonly [EvmFork, readonly number[]])[] = [
  ['homestead', [0xf4]],
  ['byzantium', [0x3d, 0x3e, 0xfa, 0xfd]],
  ['constantinople', [0x1b, 0x1c, 0x1d, 0x3f, 0xf5]],
  ['istanbul', [0x46, 0x47]],
  ['london', [0x48]],
  ['shanghai', [0x5f]],
  ['cancun', [0x49, 0x4a, 0x5c, 0x5d, 0x5e]],
  ['osaka', [0x1e]],
]
const sinceOf = new Map(SINCE.flatMap(([fork, ops]) => ops.map(op => [op, fork] as const)))

const invalid: Operation = frame => frame.fail(FAULTS.invalidOpcode)

const build = (rules: EvmRules): OpcodeTable => {
  const fixed = new Array<number>(256).fill(0)
  const prices = new Array<Price | undefined>(256).fill(undefined)
  const run = new Array<Operation>(256).fill(invalid)
  const known = new Array<boolean>(256).fill(false)
  const place = EVM_FORKS.indexOf(rules.fork)
  for (const { op, gas, price, operation } of ENTRIES) {
    if (EVM_FORKS.indexOf(sinceOf.get(op) ?? 'frontier') > place) continue
    fixed[op] = typeof gas === 'number' ? gas : gas(rules)
    prices[op] = price
    run[op] = operation
    known[op] = true
  }
  return {
    fixed,
    prices,
    run,
    known,
    least: SHAPES.map(({ least }, op) => (known[op] ? least : 0)),
    most: SHAPES.map(({ most }, op) => (known[op] ? most : Number.POSITIVE_INFINITY)),
  }
}

const tables = new Map<EvmFork, OpcodeTable>()

export const tableOf = (rules: EvmRules): OpcodeTable => {
  let table = tables.get(rules.fork)
  if (table === undefined) {
    table = build(rules)
    tables.set(rules.fork, table)
  }
  return table
}
