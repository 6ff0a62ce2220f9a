import { assert } from '@tandem/base/assert.ts'
import { type Hex, ZERO_HASH } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { BlockProofs, type ProofParent } from '../../../src/chain/proof/block-proofs.ts'
import type { ChainParams } from '../../../src/config/networks.ts'
import type { DecidedBlock } from '../../../src/consensus/ports.ts'
import type { MainHead, ProofPool } from '../../../src/powchain/proof-pool.ts'
import { createWorkVerifier } from '../../../src/powchain/work-verifier.ts'
import { decodeExtraData } from '../../../src/primitives/consensus/extra-data.ts'
import { councilBlockOf, cycleOf, endsCycle, firstSeed, nextSeed } from '../../../src/rules/council/cycle.ts'
import { firstProofState, type ProofState } from '../../../src/rules/proof/proof-header.ts'
import { type IncludedProof, proofStateAfter } from '../../../src/rules/proof/proof-inclusion.ts'
import { SIM_CHAIN_ID, stubArgon2 } from '../proof/sim-work.ts'

/** Pending proof headers of one process, and its clock. */
export interface ProcessProofs {
  readonly pool: ProofPool
  nowMs(): number
  /** Called after the pool has learned of a new head. */
  committed(): void
}

interface LedgerProofsOptions {
  readonly params: ChainParams
  readonly genesisHash: Hex
  /** Length of a cycle, whose seeds the proof chain feeds. */
  readonly cycleBlocks: number
  readonly hashAt: (number: number) => Hex | undefined
}

/** Final proof chain of a node, in memory instead of the rows of a store; the rules are the shipped ones. */
export class LedgerProofs {
  readonly params: ChainParams
  readonly verifier = createWorkVerifier(SIM_CHAIN_ID, async () => stubArgon2)
  readonly #options: LedgerProofsOptions
  /** After each final header, by its id. */
  readonly #states = new Map<Hex, ProofState>()
  /** Seeds as the council records hold them, by the block of the record. */
  readonly #seeds = new Map<number, Hex>()

  constructor(options: LedgerProofsOptions) {
    this.#options = options
    this.params = options.params
    this.#states.set(ZERO_HASH, firstProofState(options.params))
    this.#seeds.set(0, nextSeed(firstSeed(options.genesisHash), ZERO_HASH, 1))
  }

  stateAt(tipId: Hex): ProofState {
    const state = this.#states.get(tipId)
    assert(state !== undefined, 'a committed tip has its state')
    return state
  }

  /** State after the last block of a chain. */
  stateAfter(last: DecidedBlock | undefined): ProofState {
    return this.stateAt(tipOf(last))
  }

  headOf(last: DecidedBlock | undefined): MainHead {
    const { number, hash } = this.#placeOf(last)
    return { number, hash, proofState: this.stateAfter(last) }
  }

  /** The last block of a chain as the parent of the next one. */
  parentOf(last: DecidedBlock | undefined): ProofParent {
    const { number, hash } = this.#placeOf(last)
    return { header: { number }, hash, extra: { proofTip: tipOf(last) } }
  }

  /** The part of the shipped chain that selects and checks the proof headers of blocks. */
  blocks(pool: ProofPool): BlockProofs {
    const { params, hashAt } = this.#options
    const { verifier } = this
    return new BlockProofs({ params, rows: this, blocks: { hashOf: hashAt }, verifier, pool, logger: silentLogger })
  }

  /** Records a committed block. */
  append(last: DecidedBlock, before: ProofState, included: readonly IncludedProof[]): void {
    for (const { state } of included) this.#states.set(state.tipId, state)
    const { number } = last.block.header
    const { cycleBlocks } = this.#options
    if (!endsCycle(number, cycleBlocks)) return
    const { tipId } = proofStateAfter(before, included)
    const seed = this.#seeds.get(number - cycleBlocks)
    assert(seed !== undefined, 'the cycle before has its record')
    this.#seeds.set(number, nextSeed(seed, tipId, number / cycleBlocks + 1))
  }

  /** Seed of the cycle of a block. */
  seedAt(number: number): Hex {
    const { cycleBlocks, genesisHash } = this.#options
    const cycle = cycleOf(number, cycleBlocks)
    const seed = cycle === 0 ? firstSeed(genesisHash) : this.#seeds.get(councilBlockOf(cycle, cycleBlocks))
    assert(seed !== undefined, 'a requested cycle has its council record')
    return seed
  }

  #placeOf(last: DecidedBlock | undefined): { readonly number: number; readonly hash: Hex } {
    return last === undefined
      ? { number: 0, hash: this.#options.genesisHash }
      : { number: last.block.header.number, hash: last.block.hash }
  }
}

const tipOf = (last: DecidedBlock | undefined): Hex =>
  last === undefined ? ZERO_HASH : decodeExtraData(last.block.header.extraData).proofTip
