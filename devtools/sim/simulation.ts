import { CONSENSUS_BOUNDS } from '../../src/config/protocol-bounds.ts'
import { SIMULATION_LIMITS } from '../limits.ts'
import { FaultInjector } from './fault-injector.ts'
import type { Plan } from './plan/plan.ts'
import { SimCluster, settled } from './sim-cluster.ts'
import type { SimulationOutcome } from './swarm/run-outcome.ts'

/** Blocks every node must gain after healing. */
const HEIGHTS_AFTER = 3
const OMISSION_ROUNDS = 3
/** Byzantine members whose rounds of three heights fit the patience for one. */
const SMALL_RUN = 2
/** Inspecting every engine's state costs more than most events. */
const LOOK_EVERY = 64

/**
 * Whole nodes' engines with their logs and codecs, in one thread on one virtual clock: a phase of faults, then a phase without faults in
 * which every node must progress (docs/design/consensus.md#invariants). The run follows entirely from the plan. `lines`: number of events
 * kept as text.
 */
export const runSimulation = (plan: Plan, lines = 0): Promise<SimulationOutcome> => new Simulation(plan, lines).run()

class Simulation {
  readonly #plan: Plan
  readonly #cluster: SimCluster
  readonly #faults: FaultInjector

  constructor(plan: Plan, lines: number) {
    this.#plan = plan
    this.#cluster = new SimCluster(plan, lines)
    this.#faults = new FaultInjector(this.#cluster)
  }

  async run(): Promise<SimulationOutcome> {
    const { faultsMs, heights, faults } = this.#plan
    const cluster = this.#cluster
    const { queue, checker } = cluster
    await cluster.start()
    this.#faults.plan(faults)
    while (queue.nowMs < faultsMs && cluster.height < heights && checker.violation === null) await this.#go()
    const healedAtMs = queue.nowMs
    if (checker.violation === null) await this.#recover()
    return this.#outcome(healedAtMs)
  }

  /** Runs one event with all its immediate effects. */
  async #go(): Promise<void> {
    const cluster = this.#cluster
    const { queue, checker } = cluster
    if (!queue.next() || queue.count > SIMULATION_LIMITS.events) {
      checker.report('liveness', `no event leads to progress any more: ${cluster.describe()}`)
      return
    }
    await settled()
    const late = cluster.pace?.lateAt(queue.nowMs)
    if (late) checker.report('pace', `no block at ${cluster.height + 1}: ${late}; ${cluster.describe()}`)
    if (queue.count % LOOK_EVERY === 0) cluster.inspect()
  }

  async #recover(): Promise<void> {
    this.#faults.heal()
    const cluster = this.#cluster
    const { queue, checker } = cluster
    checker.heal()
    const target = cluster.height + HEIGHTS_AFTER
    const untilMs = queue.nowMs + this.#patienceMs()
    const isBehind = () => [...cluster.members.values()].some(member => member.number < target)
    while (isBehind() && checker.violation === null) {
      if (queue.nowMs > untilMs) checker.report('liveness', `not every member reaches ${target}: ${cluster.describe()}`)
      else await this.#go()
    }
  }

  /**
   * Longest time to progress: the current round may time out, and as many later ones as have byzantine proposers; clocks may have been
   * ahead.
   */
  #patienceMs(): number {
    const { roundTimeoutMs, byzantine, faults, mining } = this.#plan
    const { maxTimeoutExponent, timeoutCapMs } = CONSENSUS_BOUNDS
    this.#cluster.inspect()
    const round = Math.max(...[...this.#cluster.members.values()].map(member => member.round))
    let patienceMs = 20_000 + 4 * (this.#plan.slow?.blockMs ?? 0)
    const timeoutMs = (at: number) => Math.min(roundTimeoutMs * 2 ** Math.min(at, maxTimeoutExponent), timeoutCapMs)
    for (let ahead = 0; ahead <= byzantine.length + 3; ahead++) patienceMs += timeoutMs(round + ahead)
    // With many Byzantine members each of the next heights may lose a long run of rounds as well.
    if (byzantine.length > SMALL_RUN)
      for (let at = 0; at <= byzantine.length + 3; at++) patienceMs += (HEIGHTS_AFTER - 1) * timeoutMs(at)
    // Members may know different proof headers: each height may lose the rounds of the vote rule.
    if (mining !== null) for (let at = 0; at < OMISSION_ROUNDS; at++) patienceMs += HEIGHTS_AFTER * timeoutMs(at)
    return patienceMs + (faults.some(({ kind }) => kind === 'clockJump') ? 40_000 : 0)
  }

  #outcome(healedAtMs: number): SimulationOutcome {
    const { queue, checker, network, proofs, trace, counts, height, maxHeld, foundProofs } = this.#cluster
    const { lost, duplicated } = network.simTraffic
    return {
      seed: this.#plan.seed,
      violation: checker.violation,
      heights: height,
      events: queue.count,
      virtualMs: Math.round(queue.nowMs),
      healedMs: Math.round(queue.nowMs - healedAtMs),
      maxRound: checker.maxRound,
      maxLaterRound: checker.maxLaterRound,
      maxHealedRounds: checker.maxHealedRounds,
      maxHeld,
      ...counts,
      lost,
      duplicated,
      accusations: checker.accusations,
      foundProofs,
      includedProofs: proofs.included,
      omissions: checker.omissions,
      trace: trace.hash,
      lines: trace.lines,
    }
  }
}
