import type { Cancellation } from '@tandem/base/async/cancellation.ts'
import { type Hex, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import { CALL_LIMITS } from '../config/limits/clients.ts'
import type { ChainParams } from '../config/networks.ts'
import type { BlockEnv } from '../evm/block-env.ts'
import { blobsWith } from '../evm/calls/message/call-message.ts'
import { planBlocks } from '../evm/calls/simulate/plan-blocks.ts'
import type {
  BlockSlot,
  PlannedBlock,
  SimulatedBlock,
  SimulatedCall,
  SimulationPlan,
  SimulationRequest,
} from '../evm/calls/simulate/types.ts'
import type { CallService } from '../evm/calls/types.ts'
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
    const assemble = (blocks: readonly SimulatedBlock[]) => this.#assemble(plan, base, blocks)
    const hash = async (some: readonly SimulatedBlock[]) => (await assemble(some)).map(block => block.hash)
    const blocks = await calls.simulate(plan, client, hash, cancellation)
    const assembled = await assemble(blocks)
    return blocks.map((block, i) => ({ block: assembled[i] as ChainBlock, calls: block.calls }))
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

  /** Computes the blocks with their roots and hashes. */
  async #assemble(
    plan: SimulationPlan,
    base: ChainBlock,
    blocks: readonly SimulatedBlock[],
  ): Promise<readonly ChainBlock[]> {
    const { params, rules } = this.#options
    const roots = await this.#stateRoots(plan, base, blocks)
    const assembled: ChainBlock[] = []
    // A simulated block has no proposer.
    const extra = assembleExtraData(ZERO_ADDRESS, null, { proofTip: base.extra.proofTip })
    for (const [i, { env, execution, roots: others }] of blocks.entries()) {
      const parent = assembled.at(-1) ?? base
      const blockEnv: BlockEnv = { ...env, params, blockHash: () => parent.hash }
      const state = roots[i] as Hex
      const block = rules.assemble(blockEnv, parent, extra, execution, { state, ...others })
      assembled.push({ ...block, extra })
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
    blocks: readonly SimulatedBlock[],
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
