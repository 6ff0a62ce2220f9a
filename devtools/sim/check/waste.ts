import type { Hex } from '@tandem/base/bytes.ts'
import type { ConsensusStatus } from '../../../src/consensus/monitor/stats.ts'
import type { NetworkPort, ValidateContext } from '../../../src/consensus/ports.ts'

interface WasteCheckOptions {
  readonly place: () => Pick<ConsensusStatus, 'number' | 'round'>
  readonly report: (text: string) => void
}

/**
 * Checks that a process validates no block whose verdict it no longer needs (docs/design/consensus.md#the-work-of-one-block): one of a height
 * that is over, or of a round that was left, unless the block is known to be proposed again.
 */
export class WasteCheck {
  readonly #options: WasteCheckOptions
  /** Blocks that the process heard proposed with a quorum of prepares. */
  readonly #reproposed = new Set<Hex>()

  constructor(options: WasteCheckOptions) {
    this.#options = options
  }

  wrap(network: NetworkPort): NetworkPort {
    return {
      ...network,
      onMessage: (listener, validateClaim) =>
        network.onMessage((message, from) => {
          if (message.type === 'proposal' && message.prepares.length > 0) this.#reproposed.add(message.block.hash)
          return listener(message, from)
        }, validateClaim),
    }
  }

  /** Called with each slice of a validation. */
  validating(hash: Hex, { number, round, fresh }: ValidateContext): void {
    const at = this.#options.place()
    if (number > at.number) return
    if (number === at.number && (!fresh || round >= at.round || this.#reproposed.has(hash))) return
    this.#options.report(`in ${at.number}/${at.round} still validates ${number}/${round}`)
  }
}
