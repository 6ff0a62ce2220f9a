import { assert } from '@tandem/base/assert.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import { evmForkAt } from '../../src/config/forks.ts'
import type { EngineEnv } from '../../src/evm/block-env.ts'
import type { Engine, EngineFailure, EngineMessage, EngineOptions, EngineResult } from '../../src/evm/engine.ts'
import { PRECOMPILES } from '../../src/evm/engines/precompiles/table.ts'
import { REASON } from '../../src/evm/failure-reasons.ts'
import { delegationTarget } from '../../src/primitives/transaction/delegation.ts'
import { executionRulesAt } from '../../src/rules/execution-rules.ts'
import type { Journal } from '../../src/state/journal/journal.ts'
import { beginCall } from './calls.ts'
import { beginCreation, createdBy } from './creations.ts'
import type { Fault } from './fault.ts'
import { Workspaces } from './frame/memory.ts'
import { runFrames } from './loop/loop.ts'
import { tableOf } from './loop/table.ts'
import { runTracedFrame } from './loop/traced-loop.ts'
import { evmRulesOf } from './rules.ts'
import { Execution, type NetworkPrecompile, type Precompiles } from './transaction/execution.ts'

const warmUp = ({ access, rules, env }: Execution, message: EngineMessage): void => {
  if (!rules.hasAccessPrices) return
  access.warm(message.from)
  if (message.to !== null) access.warm(message.to)
  if (rules.warmsCoinbase) access.warm(env.miner)
  for (const address of message.warm ?? []) access.warm(address)
  for (const { address, storageKeys } of message.accessList) {
    access.warm(address)
    for (const slot of storageKeys) access.touchSlot(address, slot)
  }
}

/** Loads the accounts of the first frame, where reads are asynchronous. */
const loadFirst = async ({ prefetch, journal }: Execution, { from, to }: EngineMessage): Promise<void> => {
  if (prefetch === undefined) return
  await prefetch.account(from)
  if (to === null) {
    await prefetch.code(createdBy(journal, from))
    return
  }
  await prefetch.code(to)
  const target = delegationTarget(journal.code(to))
  if (target !== undefined) await prefetch.code(target)
}

const begin = (vm: Execution, { from, to, value, data, gas }: EngineMessage): void => {
  const fromWord = vm.origin
  if (to === null) {
    beginCreation(vm, undefined, { creator: from, creatorWord: fromWord, value, initCode: data, salt: undefined, gas })
    return
  }
  const addressed = { address: to, addressWord: BigInt(to), caller: from, callerWord: fromWord }
  const context = { ...addressed, value, input: data, isStatic: false, isCreation: false }
  beginCall(vm, undefined, { type: 'CALL', context, codeAddress: to, gas })
}

const failureOf = (fault: Fault | undefined): EngineFailure | null => {
  if (fault === undefined) return null
  return fault.reason === REASON.revert ? { kind: 'revert' } : { kind: 'halt', reason: fault.reason }
}

const destroyedBy = ({ effects, rules }: Execution): readonly Hex[] => {
  const all = effects.destroyed.values()
  return rules.destroysOnlyNew ? all.filter(address => effects.created.has(address)) : all
}

const resultOf = (vm: Execution, message: EngineMessage): EngineResult => {
  const { outcome, effects, options } = vm
  assert(outcome !== undefined, 'a message that has ended has an outcome')
  const { fault, gasLeft, output, created } = outcome
  const { logs } = effects
  return {
    gasUsed: message.gas - gasLeft,
    refund: BigInt(vm.refund),
    output,
    logs: options.transfers ? logs.filter(log => !effects.transfers.has(log)) : logs,
    internal: effects.internal,
    created,
    destroyed: destroyedBy(vm),
    failure: failureOf(fault),
    ...(options.transfers && { tracedLogs: logs }),
  }
}

/** Runs frames, and awaits their promises. */
const drive = async (vm: Execution): Promise<void> => {
  while (vm.outcome === undefined) {
    const { pending } = vm
    vm.pending = undefined
    await pending
    runAll(vm)
  }
}

const runAll = (vm: Execution): void => (vm.trace === undefined ? runFrames(vm) : runFrames(vm, runTracedFrame))

const runSlowly = async (vm: Execution, message: EngineMessage): Promise<EngineResult> => {
  await loadFirst(vm, message)
  begin(vm, message)
  if (vm.pending === undefined) runAll(vm)
  await drive(vm)
  return resultOf(vm, message)
}

/**
 * Interpreter in TypeScript. Without waiting the result is not a promise. Messages on separate journals may run
 * concurrently.
 */
export const createInterpreter = (): Engine => {
  const workspaces = new Workspaces()
  return {
    name: 'interpreter',
    run(journal: Journal, env: EngineEnv, message: EngineMessage, options: EngineOptions = {}) {
      const precompiles = precompilesOf(env)
      const rules = evmRulesOf(evmForkAt(env.params.forks, env.number))
      const parts = { journal, env, message, options, workspaces, precompiles, rules, table: tableOf(rules) }
      const vm = new Execution(parts)
      warmUp(vm, message)
      vm.access.record(options.accesses)
      if (vm.prefetch !== undefined) return runSlowly(vm, message)
      begin(vm, message)
      if (vm.pending === undefined) runAll(vm)
      return vm.outcome === undefined ? drive(vm).then(() => resultOf(vm, message)) : resultOf(vm, message)
    },
  }
}

/** Returns the precompiles of a block by address, at the network's prices. */
const precompilesOf = ({ params, number }: EngineEnv): Precompiles => {
  const all = new Map<Hex, NetworkPrecompile>()
  for (const address of executionRulesAt(params, number).precompiles) {
    const row = PRECOMPILES.get(Number(address))
    if (row !== undefined) all.set(address, { row, price: params.precompilePrices?.[Number(address)] ?? undefined })
  }
  return all
}
