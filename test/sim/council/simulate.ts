import { type Hex, hexToBytes, toWord, ZERO_HASH } from '@tandem/base/bytes.ts'
import { createRandom, type Random } from '@tandem/base/random.ts'
import { type Committee, drawCommittee, eligibleMembers } from '../../../src/consensus/committee.ts'
import { certificateFromSigners } from '../../../src/primitives/consensus/certificate.ts'
import { nextStatus, type RatedCouncil } from '../../../src/rules/council/council-status.ts'
import { firstOfCycle, lastOfCycle, nextSeed } from '../../../src/rules/council/cycle.ts'
import { type CertifiedBlock, proposerIndex } from '../../../src/rules/council/proposer-turns.ts'
import { quorumOf } from '../../../src/rules/council/quorum.ts'
import { CouncilChecks, type CouncilViolation } from './checks.ts'
import { type CouncilSimOptions, type CouncilSimPlan, drawCouncilPlan, type PlannedMember } from './plan.ts'

export const CYCLE_BLOCKS = 60
const INACTIVE_BLOCKS = 600
const SEAL = new Uint8Array(65)
/** Share of heights whose first block is prepared and decided a round later, and that a network outage takes through many rounds. */
const REPROPOSED = 0.002
const OUTAGE = 0.001
/** Share of the seals beyond a quorum that reach a certificate. */
const SEALED = 0.8

interface CouncilOutcome {
  readonly violation: CouncilViolation | null
  readonly heights: number
  readonly worstRound: number
  /** Share of heights that were not decided in their first round. */
  readonly late: number
}

export interface SimulatedMember extends PlannedMember {
  readonly validator: Hex
  readonly admission: number
}

/** Runs a council with the shipped rules of activity, activation, drawing and turns; consensus is reduced to who is there. */
export const simulateCouncil = (options: CouncilSimOptions): CouncilOutcome =>
  new CouncilSimulation(drawCouncilPlan(options)).run()

class CouncilSimulation {
  readonly #plan: CouncilSimPlan
  readonly #random: Random
  readonly #members: readonly SimulatedMember[]
  readonly #checks: CouncilChecks
  readonly #committees = new Map<number, Committee>()
  #before: RatedCouncil
  #record: RatedCouncil
  #seed: Hex = ZERO_HASH
  #last: CertifiedBlock | undefined
  #late = 0
  #worstRound = 0
  #heights = 0

  constructor(plan: CouncilSimPlan) {
    this.#plan = plan
    this.#random = createRandom(plan.seed * 7_013)
    const inOrder = plan.members.toSorted((a, b) => a.admitted - b.admitted)
    this.#members = inOrder.map((member, at) => ({
      ...member,
      validator: `0x${(at + 1).toString(16).padStart(40, '0')}`,
      admission: at + 1,
    }))
    this.#checks = new CouncilChecks(this.#members, plan)
    const members = this.#registered(-1)
    const none = new Set<Hex>()
    const status = { lapses: new Map(), jailed: none, queued: none, unproven: none, idle: new Map() }
    this.#record = { number: 0, members, ...status }
    this.#before = this.#record
    for (const cycle of [0, 1]) this.#draw(cycle)
  }

  run(): CouncilOutcome {
    for (let cycle = 0; cycle < this.#plan.cycles && this.#checks.violation === null; cycle++) {
      const blocks = this.#play(cycle)
      if (this.#checks.violation !== null) break
      this.#end(cycle, blocks)
    }
    this.#checks.ended(this.#heights, this.#late)
    const { violation } = this.#checks
    return { violation, heights: this.#heights, worstRound: this.#worstRound, late: this.#late / this.#heights }
  }

  #registered(cycle: number): readonly SimulatedMember[] {
    return this.#members.filter(({ admitted, leaves }) => admitted <= cycle && leaves > cycle)
  }

  #isUp({ validator, starts, dies, leaves }: SimulatedMember, cycle: number): boolean {
    if (cycle < starts || cycle >= dies) return false
    return cycle < leaves || (this.#committees.get(cycle)?.members.includes(validator) ?? false)
  }

  /** Decides the heights of a cycle. Returns the blocks whose certificates its headers hold. */
  #play(cycle: number): readonly CertifiedBlock[] {
    const committee = this.#committees.get(cycle) as Committee
    const up = new Set(this.#members.filter(member => this.#isUp(member, cycle)).map(({ validator }) => validator))
    const present = committee.members.filter(member => up.has(member))
    this.#checks.opened(cycle, committee, present.length)
    const blocks = this.#last === undefined ? [] : [this.#last]
    for (let number = firstOfCycle(cycle, CYCLE_BLOCKS); number <= lastOfCycle(cycle, CYCLE_BLOCKS); number++) {
      if (this.#checks.violation !== null) break
      blocks.push(this.#decide(number, cycle, committee, present))
    }
    this.#last = blocks.pop()
    return blocks
  }

  #decide(number: number, cycle: number, committee: Committee, present: readonly Hex[]): CertifiedBlock {
    const proposerAt = (round: number) => committee.members[proposerIndex(committee, number, round)] as Hex
    const proposes = (validator: Hex) => present.includes(validator) && !this.#checks.isIdle(validator, cycle)
    let round = this.#random.chance(OUTAGE) ? committee.members.length + this.#random.below(9) : 0
    if (round === 0) this.#checks.opensRound(number, proposerAt(0), committee)
    const first = round
    while (!proposes(proposerAt(round)) && round < first + 2 * committee.members.length) round++
    if (first === 0) this.#worstRound = Math.max(this.#worstRound, round)
    this.#checks.decided(number, round - first)
    const proposer = proposerAt(round)
    if (this.#random.chance(REPROPOSED) && proposes(proposerAt(round + 1))) round++
    if (round > 0 && first === 0) this.#late++
    this.#heights++
    const needed = quorumOf(committee.members.length)
    const sealers = present.filter((_, at) => at < needed || this.#random.chance(SEALED))
    const seals = new Map(sealers.map(member => [committee.members.indexOf(member), SEAL]))
    const certificate = certificateFromSigners(round, committee.members.length, seals)
    this.#checks.sealed(sealers, proposer)
    return { number, proposer, committee, certificate }
  }

  #end(cycle: number, blocks: readonly CertifiedBlock[]): void {
    const number = lastOfCycle(cycle, CYCLE_BLOCKS)
    const members = this.#registered(cycle)
    const { committeeSize } = this.#plan
    const rules = { cycleBlocks: CYCLE_BLOCKS, inactiveBlocks: INACTIVE_BLOCKS, committeeSize }
    const status = nextStatus({ number, members, jailed: new Set(), before: this.#record, blocks, ...rules })
    this.#before = this.#record
    this.#record = { number, members, ...status }
    this.#checks.rated(cycle, this.#record)
    this.#committees.delete(cycle - 1)
    this.#draw(cycle + 2)
  }

  #draw(cycle: number): void {
    const { committeeSize } = this.#plan
    this.#seed = nextSeed(this.#seed, toWord(BigInt(this.#plan.seed)), cycle)
    const params = { committeeSize, seed: hexToBytes(this.#seed), first: firstOfCycle(cycle, CYCLE_BLOCKS) }
    const draw = (record: RatedCouncil) => drawCommittee(eligibleMembers(record, this.#before, committeeSize), params)
    const committee = draw(this.#record)
    this.#committees.set(cycle, committee)
    const reversed = () => draw({ ...this.#record, members: this.#record.members.toReversed() })
    this.#checks.drawn(cycle, committee, this.#record, cycle % 16 === 0 ? reversed() : committee)
  }
}
