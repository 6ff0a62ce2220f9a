import type { Hex } from '@tandem/base/bytes.ts'
import { encodeProofHeader, type ProofHeader } from '../../../src/primitives/proof-header.ts'
import type { SimMember } from '../member/sim-member.ts'
import type { EventQueue } from '../network/event-queue.ts'
import type { PlannedFind } from '../plan/plan.ts'
import { solveProof } from './sim-work.ts'

interface SimMinersOptions {
  readonly queue: EventQueue
  readonly memberAt: (node: number) => SimMember | undefined
  readonly onFound: (node: number, header: ProofHeader) => void
}

/**
 * Miners at honest nodes: each finds what its node asks for, at the planned times. Of two at once each has a header of its own on the same
 * tip. One that withholds shows its header later.
 */
export class SimMiners {
  readonly #options: SimMinersOptions
  #found = 0

  constructor(options: SimMinersOptions) {
    this.#options = options
  }

  plan(finds: readonly PlannedFind[]): void {
    const { queue } = this.#options
    for (const find of finds) queue.at(find.atMs, () => this.#find(find))
  }

  #find({ nodes, withheldMs }: PlannedFind): void {
    const { queue, memberAt, onFound } = this.#options
    const headers = nodes.flatMap((node): readonly (readonly [number, ProofHeader])[] => {
      const salt = ++this.#found
      const template = memberAt(node)?.proofWork(payeeOf(salt), Uint8Array.of(salt >> 8, salt & 0xff))
      return template === undefined ? [] : [[node, solveProof(template)]]
    })
    for (const [node, header] of headers) {
      onFound(node, header)
      const show = () => void memberAt(node)?.submitProof(encodeProofHeader(header))
      if (withheldMs > 0) queue.at(queue.nowMs + withheldMs, show)
      else show()
    }
  }
}

/** Every header pays another address, so that a wrong payee shows. */
const payeeOf = (salt: number): Hex => `0x${(0xa0_0000 + salt).toString(16).padStart(40, '0')}`
