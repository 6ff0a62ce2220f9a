import { FAULTLESS } from './plan/draw-plan.ts'
import type { PlannedFault } from './plan/plan.ts'
import type { SimCluster } from './sim-cluster.ts'

/** Faults of a plan, done to a cluster until it is healed. */
export class FaultInjector {
  readonly #cluster: SimCluster
  #isHealed = false

  constructor(cluster: SimCluster) {
    this.#cluster = cluster
  }

  /** Plans each fault at its time. */
  plan(faults: readonly PlannedFault[]): void {
    const { queue } = this.#cluster
    for (const plannedFault of faults) queue.at(plannedFault.atMs, () => this.#inject(plannedFault))
  }

  /** Ends all faults, and prevents later ones. */
  heal(): void {
    const { networks, members } = this.#cluster
    this.#isHealed = true
    this.#cluster.eclipsed.clear()
    this.#cluster.unanswered.clear()
    this.#cluster.note(() => `all is well from here on`)
    for (const network of networks) network.heal(FAULTLESS)
    for (const member of members.values()) {
      member.disarm()
      member.setClockSkew(0)
      member.resume()
      member.start()
    }
  }

  #inject(fault: PlannedFault): void {
    if (this.#isHealed) return
    const cluster = this.#cluster
    const { queue, counts, members } = cluster
    const endMs = queue.nowMs + fault.forMs
    switch (fault.kind) {
      case 'partition': {
        counts.partitions++
        cluster.note(() => `the network splits off ${fault.side.join(' ')}${fault.oneWay ? ', one way' : ''}`)
        for (const network of cluster.networks) queue.at(endMs, network.partition(fault.side, fault.oneWay))
        return
      }
      case 'answers':
        cluster.note(() => `member ${fault.node} gets no block that it asks for`)
        cluster.unanswered.add(fault.node)
        queue.at(endMs, () => cluster.unanswered.delete(fault.node))
        return
      case 'eclipse':
        cluster.note(() => `member ${fault.node} hears only Byzantine members`)
        queue.at(endMs, cluster.eclipse(fault.node))
        return
      case 'crash':
        members.get(fault.node)?.arm({ point: fault.point, downMs: fault.forMs, loses: fault.loses })
        return
      case 'pause':
        counts.pauses++
        members.get(fault.node)?.pause(fault.forMs)
        return
      case 'clockJump':
        counts.clockJumps++
        cluster.note(() => `the clock of member ${fault.node} is ${fault.skewMs} ms ahead`)
        members.get(fault.node)?.setClockSkew(fault.skewMs)
        queue.at(endMs, () => members.get(fault.node)?.setClockSkew(0))
        return
    }
  }
}
