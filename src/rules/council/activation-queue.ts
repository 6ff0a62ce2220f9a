import type { Hex } from '@tandem/base/bytes.ts'
import { quorumOf } from './quorum.ts'
import { isHeard, qualifiedValidators, type Registered, type ValidatorRecord } from './validator-activity.ts'

/* Activation queue (docs/design/council.md#activation-queue): in order of admission, so that no chain depends on silent newcomers. */

export interface ActivationStatus {
  /** Members that wait in the queue. */
  readonly queued: ReadonlySet<Hex>
  /** Members that have begun to serve and not sealed yet. */
  readonly unproven: ReadonlySet<Hex>
}

type QueuedCouncil<Member> = Pick<ActivationStatus, 'queued'> & { readonly members: readonly Member[] }

/** Returns the members without those that wait in the queue. */
export const activatedMembers = <Member extends Registered>({
  members,
  queued,
}: QueuedCouncil<Member>): readonly Member[] => members.filter(({ validator }) => !queued.has(validator))

interface ActivationParams {
  /** Number of the cycle's last block. */
  readonly number: number
  /** Members after it. */
  readonly registered: readonly Registered[]
  /** Status after the cycle before. */
  readonly before: QueuedCouncil<Registered> & ActivationStatus
  /** Inactivity and jail after the cycle. */
  readonly validatorRecord: Pick<ValidatorRecord, 'lapses' | 'jailed'>
  readonly hasSealed: (validator: Hex) => boolean
  readonly committeeSize: number
}

/**
 * Decides who of the registered members that did not serve yet begins to. Beside N members that serve, of which h are heard, a new ones begin:
 * as many as leave h a quorum of N + a, or of `committeeSize`: larger councils are sampled. One begins in any case where no member is unproven: otherwise a lone validator, and a council with
 * dead members, could never grow.
 */
export const activateMembers = (activationParams: ActivationParams): ActivationStatus => {
  const { number, registered, before, validatorRecord, hasSealed, committeeSize } = activationParams
  const known = new Set(activatedMembers(before).map(({ admission }) => admission))
  const serving = registered.filter(({ admission }) => known.has(admission))
  const unproven = serving
    .map(({ validator }) => validator)
    .filter(validator => before.unproven.has(validator) && !hasSealed(validator))
  const record = { ...validatorRecord, unproven: new Set(unproven) }
  const heard = serving.filter(({ validator }) => isHeard(validator, record)).length
  const waiting = registered
    .filter(({ admission }) => !known.has(admission))
    .toSorted((a, b) => a.admission - b.admission)
    .map(({ validator }) => validator)
  const count = qualifiedValidators(serving, record, number, committeeSize).length
  const limit = activationLimit({ serving: count, heard, waiting: waiting.length, committeeSize })
  const begun = unproven.length === 0 ? Math.max(1, limit) : limit
  return { queued: new Set(waiting.slice(begun)), unproven: new Set([...unproven, ...waiting.slice(0, begun)]) }
}

type LimitParams = Readonly<Record<'serving' | 'heard' | 'waiting' | 'committeeSize', number>>

/** Returns how many of the waiting members may serve beside `serving`, of which `heard` remain a quorum. */
export const activationLimit = ({ serving, heard, waiting, committeeSize }: LimitParams): number => {
  let limit = 0
  while (limit < waiting && heard >= quorumOf(Math.min(serving + limit + 1, committeeSize))) limit++
  return limit
}
