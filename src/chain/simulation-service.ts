import type { Cancellation } from '@tandem/base/async/cancellation.ts'
import { type Hex, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { CodedError, isCoded } from '@tandem/base/errors.ts'
import type { Uint64 } from '@tandem/base/uint64.ts'
import { CALL_LIMITS, SIMULATE_LIMITS } from '../config/limits/clients.ts'
import type { ChainParams } from '../config/networks.ts'
import type { BlockEnv } from '../evm/block-env.ts'
import { blobsWith } from '../evm/calls/message/call-message.ts'
import type {
  BlockCalls,
  BlockSlot,
  PlannedBlock,
  SimulatedBlock,
  SimulatedCall,
  SimulationPlan,
  SimulationRequest,
} from '../evm/calls/simulate/types.ts'
import type { CallService } from '../evm/calls/types.ts'
import type { CallError } from '../evm/engine.ts'
import type { PackedBatch } from '../state/batch.ts'
import { packChanges } from '../state/update/pack-changes.ts'
import type { WorldState } from '../state/world/world-state.ts'
import { assembleExtraData } from './block/header-assembly.ts'
import type { CallBlocks } from './call-blocks.ts'
import type { ChainRules } from './store/rules-port.ts'
import type { ChainBlock } from './store/types.ts'

interface SimulationServiceOptions {
  readonly params: ChainParams
  readonly rules: Pick<ChainRules, 'childEnv' | 'assemble'>
  readonly bases: CallBlocks
  readonly world: Pick<WorldState, 'preview'>
  readonly calls: Pick<CallService, 'simulate'>
  /** Gas limit of all calls of a simulation together. */
  readonly gas?: bigint
}

/** Simulated block as clients see it. */
export interface SimulatedChainBlock {
  readonly block: ChainBlock
  readonly calls: readonly SimulatedCall[]
}

/** Block with its changes of the state, which blocks after it stand on. */
interface Assembled {
  readonly block: ChainBlock
  readonly changes: PackedBatch | null
}

/** Simulated blocks (eth_simulateV1): planned and assembled here, executed by the call workers. */
export class SimulationService {
  readonly #options: SimulationServiceOptions

  constructor(options: SimulationServiceOptions) {
    this.#options = options
  }

  /** Throws the errors of `planBlocks` and of the call service, and TRIE_BUSY. */
  async run(
    request: SimulationRequest,
    client: string,
    cancellation?: Cancellation,
  ): Promise<readonly SimulatedChainBlock[]> {
    const { bases, calls } = this.#options
    const base = await bases.blockOf(request)
    const plan = this.#plan(request, base)
    bases.join(request, plan)
    let done: readonly Assembled[] = []
    /** Hashes of the blocks after the last ones; a call that is tried again begins anew. */
    const hash = async (blocks: readonly SimulatedBlock[]) => {
      const from = (blocks[0]?.env.number ?? 0) - base.header.number - 1
      done = await this.#assemble(plan, base, done.slice(0, from), blocks)
      return done.slice(from).map(({ block }) => block.hash)
    }
    const blocks = await calls.simulate(plan, client, hash, cancellation)
    if (done.length < blocks.length) await hash(blocks.slice(done.length))
    return blocks.map(({ calls }, i) => ({ block: (done[i] as Assembled).block, calls }))
  }

  #plan(request: SimulationRequest, base: ChainBlock): SimulationPlan {
    const { params, gas = CALL_LIMITS.gas } = this.#options
    const { header, hash } = base
    const stepSeconds = Math.max(1, Math.floor(params.blockTimeMs / 1_000))
    const places = planBlocks(header, request.blocks, stepSeconds)
    const { number, gasLimit, gasUsed, baseFeePerGas = 0n } = header
    const { blocks: _, ...rest } = request
    return {
      ...rest,
      gas,
      base: { number, hash, gasLimit, gasUsed, baseFeePerGas },
      blocks: this.#planned(places, base),
    }
  }

  /** Plans the blocks; gas limit and beneficiary set for a block apply to later ones too. */
  #planned(places: readonly BlockSlot[], base: ChainBlock): readonly PlannedBlock[] {
    const { rules } = this.#options
    let parent = base
    let chosen: Partial<Pick<BlockEnv, 'gasLimit' | 'miner'>> = {}
    return places.map(({ number, timestamp, calls }) => {
      const { gasLimit, miner, prevRandao, baseFeePerGas, blobBaseFeePerGas } = calls?.overrides ?? {}
      chosen = { ...chosen, ...(gasLimit !== undefined && { gasLimit }), ...(miner !== undefined && { miner }) }
      const {
        params,
        blockHash,
        stateRoot,
        baseFeePerGas: _,
        ...env
      } = rules.childEnv(parent, { timestamp, proposer: ZERO_ADDRESS })
      parent = { ...parent, header: { ...parent.header, number, timestamp } }
      return {
        env: {
          ...env,
          ...chosen,
          ...(prevRandao !== undefined && { prevRandao }),
          ...blobsWith(env, blobBaseFeePerGas),
        },
        baseFeePerGas,
        state: calls?.state ?? {},
        calls: calls?.calls ?? [],
      }
    })
  }

  /** Returns the blocks with those that follow them, whose roots and hashes it computes. */
  async #assemble(
    plan: SimulationPlan,
    base: ChainBlock,
    before: readonly Assembled[],
    blocks: readonly SimulatedBlock[],
  ): Promise<readonly Assembled[]> {
    const { params, rules } = this.#options
    const roots = await this.#stateRoots(plan, base, [...before, ...blocks])
    const assembled = [...before]
    // A simulated block has no proposer.
    const extra = assembleExtraData(ZERO_ADDRESS, null, { proofTip: base.extra.proofTip })
    for (const [i, { env, execution, roots: others, changes }] of blocks.entries()) {
      const parent = assembled.at(-1)?.block ?? base
      const blockEnv: BlockEnv = { ...env, params, blockHash: () => parent.hash }
      const state = roots[before.length + i] as Hex
      const block = rules.assemble(blockEnv, parent, extra, execution, { state, ...others })
      assembled.push({ block: { ...block, extra }, changes })
    }
    return assembled
  }

  /** When the block is too old for a root, later blocks have none either: they keep the root of their base. */
  async #preview(number: number, batches: readonly PackedBatch[]): Promise<readonly Hex[]> {
    try {
      return await this.#options.world.preview(number, batches)
    } catch (error) {
      if (isCoded(error) && error.code === 'PROOF_TOO_DEEP') return []
      throw error
    }
  }

  async #stateRoots(
    plan: SimulationPlan,
    base: ChainBlock,
    blocks: readonly Pick<Assembled, 'changes'>[],
  ): Promise<readonly Hex[]> {
    const { bases } = this.#options
    const batches: PackedBatch[] = []
    if (plan.pending) batches.push(packChanges((await bases.pendingOf(plan)).changes))
    const under = batches.length
    for (const { changes } of blocks) if (changes !== null) batches.push(changes)
    const number = plan.pending ? base.header.number - 1 : base.header.number
    const made = batches.length === 0 ? [] : await this.#preview(number, batches)
    let root = made[under - 1] ?? base.header.stateRoot
    let next = under
    return blocks.map(({ changes }) => {
      if (changes !== null) root = made[next++] ?? root
      return root
    })
  }
}

const LATEST = Number.MAX_SAFE_INTEGER

/** Plans consecutive simulated blocks, `stepSeconds` apart. Throws SIMULATION_NUMBER_ORDER, SIMULATION_TIME_ORDER, SIMULATION_LIMIT. */
export const planBlocks = (
  base: { readonly number: number; readonly timestamp: number },
  blocks: readonly BlockCalls[],
  stepSeconds: number,
): readonly BlockSlot[] => {
  const limit = SIMULATE_LIMITS.blocks
  const places: BlockSlot[] = []
  let { number: previous, timestamp: time } = base
  const put = (timestamp: Uint64, calls: BlockCalls | null): void => {
    if (typeof timestamp === 'bigint' || timestamp > LATEST)
      throw new CodedError<CallError>({ code: 'SIMULATION_LIMIT', what: `a time of ${LATEST}` })
    if (timestamp <= time) throw new CodedError<CallError>({ code: 'SIMULATION_TIME_ORDER', timestamp, previous: time })
    previous++
    time = timestamp
    places.push({ number: previous, timestamp, calls })
  }
  for (const block of blocks) {
    const { number = previous + 1, timestamp } = block.overrides
    if (typeof number === 'bigint' || number - base.number > limit)
      throw new CodedError<CallError>({ code: 'SIMULATION_LIMIT', what: `${limit} blocks` })
    if (number <= previous) throw new CodedError<CallError>({ code: 'SIMULATION_NUMBER_ORDER', number, previous })
    while (previous + 1 < number) put(time + stepSeconds, null)
    put(timestamp ?? time + stepSeconds, block)
  }
  return places
}
