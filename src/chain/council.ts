import type { CouncilMember } from '../config/genesis.ts'
import type { NetworkParams } from '../config/networks.ts'
import { type Committee, drawCommittee } from '../consensus/committee.ts'
import { cycleOf } from '../rules/cycle.ts'
import { assert } from '../util/assert.ts'
import { type Hex, hexToBytes } from '../util/bytes.ts'
import type { Seeds } from './seeds.ts'

/** The council of the genesis file and the committees drawn from it (DESIGN 4). */
export class Council {
  readonly members: readonly CouncilMember[]
  readonly #params: NetworkParams
  readonly #seeds: Seeds
  readonly #rewards: ReadonlyMap<Hex, Hex>
  #drawn: { readonly cycle: number; readonly committee: Committee } | undefined

  constructor(members: readonly CouncilMember[], params: NetworkParams, seeds: Seeds) {
    assert(members.length > 0, 'a council has members')
    this.members = members
    this.#params = params
    this.#seeds = seeds
    this.#rewards = new Map(members.map(member => [member.validator, member.reward]))
  }

  validators(): readonly Hex[] {
    return this.members.map(member => member.validator)
  }

  /** The committee of a block, in the order of proposers; the same for every round (DESIGN 4). */
  committee(number: number): Committee {
    const cycle = cycleOf(number, this.#params.rewards.cycleBlocks)
    if (this.#drawn?.cycle !== cycle) {
      const seed = hexToBytes(this.#seeds.of(cycle))
      this.#drawn = { cycle, committee: drawCommittee(this.validators(), this.#params.committeeSize, seed) }
    }
    return this.#drawn.committee
  }

  /** Where a proposer's pay goes: its reward address, or itself when it is no member any more. */
  rewardOf(proposer: Hex): Hex {
    return this.#rewards.get(proposer) ?? proposer
  }
}
