import type { Hex } from '@tandem/base/bytes.ts'
import type { ExecutionPort, ValidateContext } from '../../../src/consensus/ports.ts'
import type { PendingHeader } from '../../../src/powchain/core.ts'
import type { Block } from '../../../src/primitives/block.ts'
import { short } from '../network/envelope.ts'

/** Time for which a member may leave a known header out of account in round 0; doubled each round. */
const TOLERATED_MS = 1_500
const ROUNDS = 3
/** Start of the reason with which the ledger refuses a proposal by the vote rule. */
export const OMITS = 'leaves out the proof header'

interface OmissionCheckOptions {
  readonly nowMs: () => number
  /** Tip of the proof chain after the head. */
  readonly tipId: () => Hex
  readonly maxAnchorAgeBlocks: number
  readonly report: (text: string) => void
  /** A proposal was refused by the rule. */
  readonly onRefused: () => void
}

interface Held {
  readonly parentId: Hex
  readonly anchorNumber: number
  readonly sinceMs: number
}

/** Checks the vote rule of one process (docs/design/proof-chain.md#inclusion) against the headers that it was seen to hold. */
export class OmissionCheck {
  readonly #options: OmissionCheckOptions
  readonly #held = new Map<Hex, Held>()
  /** Blocks that the process built or found valid: these are not judged again. */
  readonly #judged = new Set<Hex>()

  constructor(options: OmissionCheckOptions) {
    this.#options = options
  }

  added({ id, header: { parentId, anchorNumber } }: PendingHeader): void {
    this.#held.set(id, { parentId, anchorNumber, sinceMs: this.#options.nowMs() })
  }

  wrap(execution: ExecutionPort): ExecutionPort {
    return {
      ...execution,
      build: async (request, cancelled) => {
        const block = await execution.build(request, cancelled)
        this.#judged.add(block.hash)
        return block
      },
      validate: async (block, context, cancelled) => {
        const overdue = this.#overdue(block, context)
        const verdict = await execution.validate(block, context, cancelled)
        const at = `${short(block.hash)} of ${context.number}/${context.round}`
        if (verdict.valid) {
          if (overdue !== undefined && !this.#judged.has(block.hash))
            this.#options.report(`found ${at} valid, which leaves out ${short(overdue)}`)
          this.#judged.add(block.hash)
        } else if (verdict.reason.startsWith(OMITS)) {
          this.#options.onRefused()
          if (overdue === undefined) this.#options.report(`refused ${at}, which leaves out nothing it may ask for`)
        }
        return verdict
      },
    }
  }

  /** Id of a header because of which the process must not prepare this proposal; undefined when there is none. */
  #overdue({ proofHeaders }: Block, { number, round, fresh }: ValidateContext): Hex | undefined {
    if (!fresh || round >= ROUNDS || proofHeaders.length > 0) return undefined
    const { nowMs, tipId, maxAnchorAgeBlocks } = this.#options
    const [beforeMs, tip] = [nowMs() - TOLERATED_MS * 2 ** round, tipId()]
    for (const [id, { parentId, anchorNumber, sinceMs }] of this.#held) {
      const isUsable = anchorNumber < number && anchorNumber >= number - maxAnchorAgeBlocks
      if (parentId === tip && isUsable && sinceMs < beforeMs) return id
    }
    return undefined
  }
}
