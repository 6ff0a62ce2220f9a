import type { Hex } from '@tandem/base/bytes.ts'
import { type ActivationStatus, activateMembers } from './activation-queue.ts'
import { type CertifiedBlock, countTurns, type IdleMembers, nextIdleMembers } from './proposer-turns.ts'
import { countSeals, nextInactivities, type Registered, type ValidatorRecord } from './validator-activity.ts'

/** Status of a council's members after the last block of a cycle. */
interface CouncilStatus extends ValidatorRecord, ActivationStatus {
  readonly idle: IdleMembers
}

/** Council with the status of its members. */
export interface RatedCouncil<Member extends Registered = Registered> extends CouncilStatus {
  /** Last block of the cycle; 0: genesis. */
  readonly number: number
  readonly members: readonly Member[]
}

interface StatusParams {
  /** Last block of the cycle. */
  readonly number: number
  /** Members registered after it. */
  readonly members: readonly Registered[]
  readonly jailed: ReadonlySet<Hex>
  /** Council after the cycle before. */
  readonly before: RatedCouncil
  /** Blocks whose certificates are in the headers of the cycle: the last one before it, and all of it but the last. */
  readonly blocks: readonly CertifiedBlock[]
  readonly cycleBlocks: number
  readonly inactiveBlocks: number
  readonly committeeSize: number
}

/**
 * Computes the status of the registered members after a cycle. For members that do not serve, or take turns, in the cycle, the block before it
 * is all there is: one seal missing there silences none of them that was heard before, and a turn there neither begins nor ends a rest.
 */
export const nextStatus = (statusParams: StatusParams): CouncilStatus => {
  const { number, members, jailed, before, blocks, cycleBlocks, inactiveBlocks, committeeSize } = statusParams
  const validators = members.map(({ validator }) => validator)
  const { members: serving = [], proposers } = blocks.at(-1)?.committee ?? {}
  const isCounted = (member: Hex, sealed: boolean) => sealed || serving.includes(member) || before.lapses.has(member)
  const seals = new Map([...countSeals(blocks)].filter(([member, { sealed }]) => isCounted(member, sealed)))
  const inTurn = serving.slice(0, proposers)
  const turns = new Map([...countTurns(blocks)].filter(([member]) => inTurn.includes(member)))
  const lapses = nextInactivities(validators, before.lapses, seals, { number, inactiveBlocks })
  const idle = nextIdleMembers(validators, before.idle, turns, { number, cycleBlocks })
  const hasSealed = (validator: Hex) => seals.get(validator)?.sealed ?? false
  const activation = {
    number,
    registered: members,
    before,
    validatorRecord: { lapses, jailed },
    hasSealed,
    committeeSize,
  }
  return { lapses, jailed, idle, ...activateMembers(activation) }
}
