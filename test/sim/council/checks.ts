import type { Hex } from '@tandem/base/bytes.ts'
import type { Committee } from '../../../src/consensus/committee.ts'
import type { RatedCouncil } from '../../../src/rules/council/council-status.ts'
import { faultsOf, quorumOf } from '../../../src/rules/council/quorum.ts'
import type { CouncilSimPlan } from './plan.ts'
import type { SimulatedMember } from './simulate.ts'

export interface CouncilViolation {
  readonly rule: 'halt' | 'rounds' | 'size' | 'order' | 'trials' | 'starved' | 'unfair' | 'idle' | 'silent proposer'
  readonly text: string
}

/** Cycles within which a member that is there has served, and one that proposes again has its turns back. */
const PATIENCE = 300
/** Rounds of a height for which absent and idle proposers may account. */
const MOST_ROUNDS = 10
/** Least cycles of a run that is judged by its share of late heights. */
const LONG_RUN = 120

/** Independent checks of what the rules of the council decide. */
export class CouncilChecks {
  violation: CouncilViolation | null = null
  readonly #members: ReadonlyMap<Hex, SimulatedMember>
  readonly #plan: CouncilSimPlan
  readonly #sealed = new Set<Hex>()
  readonly #served = new Set<Hex>()
  /** Cycle of the last block of a member. */
  readonly #proposed = new Map<Hex, number>()
  #cycle = 0

  constructor(members: readonly SimulatedMember[], plan: CouncilSimPlan) {
    this.#members = new Map(members.map(member => [member.validator, member]))
    this.#plan = plan
  }

  isIdle(validator: Hex, cycle: number): boolean {
    const [from, until] = (this.#members.get(validator) as SimulatedMember).idle
    return cycle >= from && cycle < until
  }

  drawn(cycle: number, committee: Committee, record: RatedCouncil, again: Committee): void {
    const { members, proposers = 0 } = committee
    const { committeeSize } = this.#plan
    const activated = record.members.filter(({ validator }) => !record.queued.has(validator))
    const least = Math.min(committeeSize, activated.length - faultsOf(activated.length))
    if (members.length < least || members.length > committeeSize)
      this.#report('size', `${members.length} of ${activated.length} members serve in cycle ${cycle}`)
    if (proposers < quorumOf(members.length))
      this.#report('order', `${proposers} of ${members.length} members propose in cycle ${cycle}`)
    if (again.members.join() !== members.join())
      this.#report('order', `the order of the contract changes the committee of cycle ${cycle}`)
    if (activated.length <= committeeSize) return
    const isProven = (validator: Hex) => this.#isProven(validator)
    const proven = activated.filter(({ validator }) => isProven(validator) && !record.lapses.has(validator)).length
    const trials = members.filter(validator => !isProven(validator) || record.lapses.has(validator)).length
    if (trials > Math.max(Math.ceil(faultsOf(committeeSize) / 2), committeeSize - proven))
      this.#report('trials', `${trials} members of cycle ${cycle} did not seal when they served last, ${proven} did`)
    if (proven >= quorumOf(committeeSize) && record.queued.size > 0)
      this.#report('starved', `${record.queued.size} wait, though ${proven} are enough`)
  }

  opened(cycle: number, committee: Committee, present: number): void {
    this.#cycle = cycle
    for (const validator of committee.members) this.#served.add(validator)
    if (present < quorumOf(committee.members.length))
      this.#report('halt', `cycle ${cycle}: ${present} of ${committee.members.length} members are there`)
    for (const { validator, admitted, starts, dies, leaves } of this.#members.values())
      if (
        cycle > Math.max(starts, admitted) + PATIENCE &&
        cycle < Math.min(dies, leaves) &&
        !this.#served.has(validator)
      )
        this.#report('starved', `member ${Number(validator)} is there since cycle ${starts}, and never served`)
  }

  /** The first round of a height belongs to a member that has sealed, where a quorum of such members serves. */
  opensRound(number: number, proposer: Hex, { members }: Committee): void {
    if (this.#isProven(proposer)) return
    if (members.filter(member => this.#isProven(member)).length >= quorumOf(members.length))
      this.#report('silent proposer', `member ${Number(proposer)}, which never sealed, proposes at ${number}`)
  }

  decided(number: number, rounds: number): void {
    if (rounds > MOST_ROUNDS) this.#report('rounds', `block ${number} is decided after ${rounds} rounds`)
  }

  sealed(sealers: readonly Hex[], proposer: Hex): void {
    for (const validator of sealers) this.#sealed.add(validator)
    this.#proposed.set(proposer, this.#cycle)
  }

  rated(cycle: number, { idle }: RatedCouncil): void {
    for (const [validator] of idle) {
      const { starts, admitted, dies, idle: planned } = this.#members.get(validator) as SimulatedMember
      const isSteady = starts <= admitted && cycle < dies && planned[0] === planned[1]
      if (isSteady) this.#report('unfair', `member ${Number(validator)} takes its turns, and rests`)
    }
    for (const { validator, dies, leaves, idle: planned } of this.#members.values()) {
      const [from, until] = planned
      const due = until + PATIENCE
      if (from === until || cycle < due || cycle >= Math.min(dies, leaves)) continue
      if ((this.#proposed.get(validator) ?? 0) < until)
        this.#report('starved', `member ${Number(validator)} would propose since cycle ${until}`)
    }
  }

  /** Members that never propose delay few heights: less than a third of those that they would without a rule. */
  ended(heights: number, late: number): void {
    const idle = [...this.#members.values()].filter(member => member.idle[1] === Number.POSITIVE_INFINITY).length
    if (idle === 0 || this.#cycle < LONG_RUN) return
    const share = idle / this.#members.size
    const others = this.#plan.members.filter(member => member.dies < this.#plan.cycles).length
    if (others === 0 && late / heights > 0.05 + share / 3)
      this.#report('idle', `${idle} idle members of ${this.#members.size} delay ${late} of ${heights} heights`)
  }

  /** Members of genesis begin as if they had sealed. */
  #isProven(validator: Hex): boolean {
    return this.#sealed.has(validator) || this.#members.get(validator)?.admitted === -1
  }

  #report(rule: CouncilViolation['rule'], text: string): void {
    this.violation ??= { rule, text }
  }
}
