import { hasQuorumAtRound } from '../../../src/consensus/core/rounds.ts'
import type { Effect, Input } from '../../../src/consensus/core/types.ts'
import type { ConsensusMessage } from '../../../src/primitives/consensus/message.ts'
import { block, CoreBench, roundChange } from '../consensus/core-bench.ts'

const DEADLINE_MS = 600_000
const RELAY = -1

interface Event {
  readonly atMs: number
  readonly run: () => void
}

/** Nodes that reach each other only through one relay, in virtual time: messages arrive at once. A member without a node is dead. */
class Star {
  readonly #nodes: ReadonlyMap<number, CoreBench>
  readonly #queue: Event[] = []

  constructor(nodes: readonly CoreBench[]) {
    this.#nodes = new Map(nodes.map(node => [node.index, node]))
  }

  /** Runs until all have decided; returns the fault. */
  run(): string | null {
    const nodes = [...this.#nodes.values()]
    while (nodes.some(node => node.decided() === undefined)) {
      const next = this.#queue.toSorted((a, b) => a.atMs - b.atMs)[0]
      if (next === undefined || next.atMs > DEADLINE_MS) return `in rounds ${nodes.map(({ round }) => round)} for ever`
      this.#queue.splice(this.#queue.indexOf(next), 1)
      for (const node of nodes) node.nowMs = next.atMs
      next.run()
    }
    return null
  }

  perform(node: CoreBench, effects: readonly Effect[]): void {
    const { nowMs, index } = node
    for (const effect of effects) {
      if (effect.type === 'schedule') {
        const { timer, number, round, atMs } = effect
        this.#at(atMs, () => {
          const isolated = timer === 'round' && !hasQuorumAtRound(node.state.height!)
          this.#feed(node, { type: 'timeout', timer, number, round, isolated, nowMs: atMs })
        })
      } else if (effect.type === 'build') {
        const { number, round } = effect
        this.#at(nowMs, () =>
          this.#feed(node, { type: 'built', number, round, block: block(100 + round, index), nowMs }),
        )
      } else if (effect.type === 'validate') {
        const { number } = effect
        const verdict = { valid: true } as const
        this.#at(nowMs, () =>
          this.#feed(node, { type: 'verdict', number, blockHash: effect.block.hash, verdict, nowMs }),
        )
      } else if (effect.type === 'send') this.#deliver(index, Number(effect.to), effect.message)
      else if (effect.type === 'broadcast') {
        if (index !== RELAY) this.#deliver(index, RELAY, effect.message)
        else for (const to of this.#nodes.keys()) if (to !== RELAY) this.#deliver(RELAY, to, effect.message)
      }
    }
  }

  /** The relay passes statements of members on, and nothing else. */
  #deliver(from: number, to: number, message: ConsensusMessage): void {
    const node = this.#nodes.get(to)
    if (node === undefined) return
    this.#at(node.nowMs, () => {
      this.#feed(node, { type: 'message', message, from: String(from), nowMs: node.nowMs })
      if (to !== RELAY || !('sender' in message)) return
      for (const other of this.#nodes.keys())
        if (other !== RELAY && other !== from) this.#deliver(RELAY, other, message)
    })
  }

  #feed(node: CoreBench, input: Input): void {
    this.perform(node, node.feed(input))
  }

  #at(atMs: number, run: () => void): void {
    this.#queue.push({ atMs, run })
  }
}

/**
 * Of four members one is dead and one was down; the others changed to round 1 and then restarted. The relay that connects them all has their
 * round changes, so its status requests none. What a restart sends at once is lost, since no connection stands yet.
 */
export const restartedBehindRelay = (): string | null => {
  const restarted = [0, 1].map(index => {
    const records = [
      { type: 'round', number: 1, round: 1 },
      { type: 'signed', vote: roundChange(index, 1) },
    ] as const
    return new CoreBench(index, 4, { records })
  })
  const relay = new CoreBench(RELAY)
  relay.hear(roundChange(0, 1), roundChange(1, 1))
  const nodes = [...restarted, relay, new CoreBench(2)]
  const star = new Star(nodes)
  for (const node of nodes)
    star.perform(
      node,
      node.effects.filter(({ type }) => type === 'schedule'),
    )
  return star.run()
}
