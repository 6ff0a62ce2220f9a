import type { Hex } from '@tandem/base/bytes.ts'
import { type ChainParams, HISTORY_ADDRESS } from '../../../config/networks.ts'
import { receiptsRoot, transactionsRoot } from '../../../primitives/roots.ts'
import { nextBaseFee } from '../../../rules/money/base-fee.ts'
import { EMPTY_CODE_HASH } from '../../../state/account.ts'
import { Journal } from '../../../state/journal/journal.ts'
import { packChanges } from '../../../state/update/pack-changes.ts'
import { beginBlock, runPostExecution } from '../../block/block-run.ts'
import { beginSystemContracts, type RunSystemCall, runSystemCall, SYSTEM_CONTRACTS } from '../../block/system-calls.ts'
import type { BlockEnv } from '../../block-env.ts'
import type { CallContext } from '../message/call-message.ts'
import { applyOverrides } from '../message/state-overrides.ts'
import { simulateCall } from './simulate-call.ts'
import { SimulationLimits } from './simulation-limits.ts'
import type { HashBlocks, PlannedBlock, SimulatedBlock, SimulatedCall, SimulationPlan } from './types.ts'

type BaseFeeParent = Parameters<typeof nextBaseFee>[0]

/** State shared by all blocks of one simulation. `context.env` is that of the base block. */
interface Simulation {
  readonly context: CallContext
  readonly plan: SimulationPlan
  readonly hashes: ReturnType<typeof createHashes>
  readonly meter: SimulationLimits
}

/** Without validation the base fee is 0 and constant, so no fees have to be paid. */
const baseFeeOf = (planned: PlannedBlock, parent: BaseFeeParent, validation: boolean, params: ChainParams): bigint =>
  planned.baseFeePerGas ?? (validation ? nextBaseFee(parent, params.baseFee) : 0n)

const envOf = ({ context, plan, hashes }: Simulation, planned: PlannedBlock, parent: BaseFeeParent): BlockEnv => {
  const { params } = context.env
  const baseFeePerGas = baseFeeOf(planned, parent, plan.validation, params)
  return { ...planned.env, params, baseFeePerGas, blockHash: number => hashes.at(number) }
}

const runBlock = async (
  { context, plan, hashes, meter }: Simulation,
  journal: Journal,
  env: BlockEnv,
  planned: PlannedBlock,
) => {
  const { engine, prefetch, interrupt } = context
  const run = beginBlock(env)
  const moves = await applyOverrides(journal, prefetch, planned.state, run.rules.precompiles)
  const options = {
    transfers: plan.traceTransfers,
    blockHash: (number: number) => hashes.find(number),
    ...{ interrupt, prefetch, moves },
  }
  const systemCall: RunSystemCall = call => runSystemCall(journal, env, engine, call, { prefetch })
  const contracts = run.rules.recordsBlockHashes ? SYSTEM_CONTRACTS : []
  for (const address of [env.miner, env.proposerReward, env.foundation, ...contracts]) await prefetch?.code(address)
  // The contract of EIP-2935 stores the parent's hash.
  if (run.rules.recordsBlockHashes && journal.codeHash(HISTORY_ADDRESS) !== EMPTY_CODE_HASH)
    await hashes.find(env.number - 1)
  await beginSystemContracts(journal, env, run.rules, systemCall, prefetch)
  const calls: SimulatedCall[] = []
  for (const call of planned.calls) {
    const pause = meter.pause()
    if (pause !== undefined) await pause
    calls.push(await simulateCall({ journal, run, engine, options, meter, strict: plan.validation }, call))
  }
  return { execution: await runPostExecution(run, journal, [], [], systemCall), calls }
}

const simulateBlock = async (
  simulation: Simulation,
  journal: Journal,
  planned: PlannedBlock,
  parent: BaseFeeParent,
): Promise<SimulatedBlock> => {
  const env = envOf(simulation, planned, parent)
  const { execution, calls } = await runBlock(simulation, journal, env, planned)
  const changes = packChanges(journal.changes())
  simulation.meter.changed(changes.entries)
  return {
    env: { ...planned.env, baseFeePerGas: env.baseFeePerGas },
    execution,
    roots: { transactions: transactionsRoot(execution.transactions), receipts: receiptsRoot(execution.receipts) },
    changes: changes.entries === 0 ? null : changes,
    calls,
  }
}

/** Runs the blocks of a plan in order. They mint nothing, as payees depend on proposers, and have none. Throws CodedError<CallError>. */
export const simulateBlocks = async (
  context: CallContext,
  plan: SimulationPlan,
  hash: HashBlocks,
): Promise<readonly SimulatedBlock[]> => {
  const meter = new SimulationLimits(plan.gas, context.interrupt)
  const blocks: SimulatedBlock[] = []
  const hashes = createHashes({ base: plan.base, env: context.env }, blocks, hash, meter)
  const simulation = { context, plan, hashes, meter }
  let journal = new Journal(context.reader)
  let parent: BaseFeeParent = plan.base
  for (const planned of plan.blocks) {
    const block = await simulateBlock(simulation, journal, planned, parent)
    blocks.push(block)
    // A journal on the last one separates the changes of the next block.
    if (block.changes !== null) journal = new Journal(journal)
    parent = { ...block.env, gasUsed: block.execution.gasUsed }
  }
  return blocks
}

/**
 * Block hashes for simulated blocks, whose own need roots of another thread: requested when read, for all blocks since at once. `blocks` grows
 * during the simulation.
 */
const createHashes = (
  { base, env }: { readonly base: SimulationPlan['base']; readonly env: BlockEnv },
  blocks: readonly SimulatedBlock[],
  hash: HashBlocks,
  meter: SimulationLimits,
) => {
  const known: Hex[] = []
  /** Returns a hash known synchronously; ZERO_HASH otherwise. */
  const at = (number: number): Hex =>
    number === base.number ? base.hash : (known[number - base.number - 1] ?? env.blockHash(number))
  const request = async (number: number): Promise<Hex> => {
    meter.hashed()
    known.push(...(await hash(blocks.slice(known.length))))
    return at(number)
  }
  return {
    at,
    /** undefined: `at` knows it, or it is unknown. */
    find(number: number): Promise<Hex> | undefined {
      const index = number - base.number - 1
      return index < known.length || index >= blocks.length ? undefined : request(number)
    },
  }
}
