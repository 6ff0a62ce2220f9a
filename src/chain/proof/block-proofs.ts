import type { Hex } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import type { Logger } from '@tandem/base/logger.ts'
import type { ChainParams } from '../../config/networks.ts'
import type { PendingHeader } from '../../powchain/core.ts'
import type { WorkVerifier } from '../../powchain/work-verifier.ts'
import { anchorViewAbove, type ProofState } from '../../rules/proof/proof-header.ts'
import {
  checkProofTip,
  type IncludedProof,
  includeProofHeaders,
  proofStateAfter,
} from '../../rules/proof/proof-inclusion.ts'
import type { BlockStore } from '../store/block-store.ts'
import type { ChainBlock } from '../store/types.ts'
import type { ProofRows } from './proof-rows.ts'

interface BlockProofsOptions {
  readonly params: ChainParams
  readonly rows: Pick<ProofRows, 'stateAt'>
  readonly blocks: Pick<BlockStore, 'hashOf'>
  readonly verifier: WorkVerifier
  readonly pool: { forBlock(including: number): readonly Pick<PendingHeader, 'bytes'>[] }
  readonly logger: Logger
}

/** Block that the next one follows. */
export interface ProofParent {
  readonly header: Pick<ChainBlock['header'], 'number'>
  readonly hash: Hex
  readonly extra: Pick<ChainBlock['extra'], 'proofTip'>
}

/** Proof headers of blocks: selects those for the next block, and checks those of a block. */
export class BlockProofs {
  readonly #options: BlockProofsOptions

  constructor(options: BlockProofsOptions) {
    this.#options = options
  }

  /** State of the proof chain after a child of `parent` that includes these. */
  stateAfter(parent: ProofParent, included: readonly IncludedProof[]): ProofState {
    return proofStateAfter(this.#options.rows.stateAt(parent.extra.proofTip), included)
  }

  /** Selects pending headers for the child of `parent`, checked by the rule that other nodes apply to the block. */
  async select(
    parent: ProofParent,
  ): Promise<{ readonly included: readonly IncludedProof[]; readonly state: ProofState }> {
    const { pool, logger } = this.#options
    const encoded = pool.forBlock(parent.header.number + 1).map(({ bytes }) => bytes)
    let included: readonly IncludedProof[] = []
    try {
      included = await this.#include(parent, encoded)
    } catch (error) {
      if (!isCoded(error)) throw error
      // For a moment the pool may be based on another head than this block.
      logger.debug({ err: error, number: parent.header.number + 1 }, 'proof headers left out of the block')
    }
    return { included, state: this.stateAfter(parent, included) }
  }

  /** Checks proof headers of a child of `parent`, work too. Throws CodedError<ProofInclusionError | ProofHeaderError | ProofHeaderMalformed>. */
  async check(parent: ProofParent, encoded: readonly Uint8Array[], proofTip: Hex): Promise<readonly IncludedProof[]> {
    const included = await this.#include(parent, encoded)
    checkProofTip(this.stateAfter(parent, included), proofTip)
    return included
  }

  async #include(parent: ProofParent, encoded: readonly Uint8Array[]): Promise<readonly IncludedProof[]> {
    if (encoded.length === 0) return []
    const { params, rows, blocks, verifier } = this.#options
    const before = rows.stateAt(parent.extra.proofTip)
    const { header, hash } = parent
    const view = anchorViewAbove({ number: header.number, hash }, at => blocks.hashOf(at))
    const included = includeProofHeaders(params, before, encoded, view)
    await Promise.all(included.map(({ header }) => verifier.verify(header)))
    return included
  }
}
