import type { Hex } from '@tandem/base/bytes.ts'
import { COUNCIL_BOUNDS } from '../../config/protocol-bounds.ts'
import { signerIndexes } from '../../primitives/consensus/certificate.ts'
import type { CertifiedBlock } from './proposer-turns.ts'
import { faultsOf, quorumOf, trialsOf } from './quorum.ts'

/* Qualification for committees (docs/design/council.md#qualification), from what headers commit to: certificates and evidence. */

/** Summary of one cycle's certificates for a committee member: their number, and whether any has its seal. */
interface SealCounts {
  readonly certificates: number
  readonly sealed: boolean
}

/** Inactivity record of a member. A member that seals regularly has none. */
export interface Inactivity {
  /** Number of certificates with it in the committee since its last seal. */
  readonly silentBlocks: number
  /** Excluded up to this block, inclusive; 0: never excluded since its last seal. */
  readonly outUntil: number
}

export type Inactivities = ReadonlyMap<Hex, Inactivity>

export const countSeals = (
  blocks: Iterable<Pick<CertifiedBlock, 'committee' | 'certificate'>>,
): ReadonlyMap<Hex, SealCounts> => {
  const attendance = new Map<Hex, SealCounts>()
  for (const { committee, certificate } of blocks) {
    const signers = new Set(signerIndexes(certificate))
    committee.members.forEach((member, index) => {
      const before = attendance.get(member)
      attendance.set(member, {
        certificates: (before?.certificates ?? 0) + 1,
        sealed: (before?.sealed ?? false) || signers.has(index),
      })
    })
  }
  return attendance
}

/**
 * Computes the inactivity records after a cycle's last block `number`. One seal ends a record. `inactiveBlocks` certificates in a row
 * without one exclude a member for as many blocks; the count is kept, so that after its return one silent cycle is enough. A member
 * outside the committee can miss nothing.
 */
export const nextInactivities = (
  council: readonly Hex[],
  before: Inactivities,
  attendance: ReadonlyMap<Hex, SealCounts>,
  { number, inactiveBlocks }: { readonly number: number; readonly inactiveBlocks: number },
): Inactivities => {
  const lapses = new Map<Hex, Inactivity>()
  for (const member of council) {
    const attended = attendance.get(member)
    if (attended?.sealed) continue
    const inactivity = before.get(member) ?? { silentBlocks: 0, outUntil: 0 }
    const silentBlocks = inactivity.silentBlocks + (attended?.certificates ?? 0)
    if (silentBlocks === 0) continue
    const isOut = attended !== undefined && silentBlocks >= inactiveBlocks
    lapses.set(member, { silentBlocks, outUntil: isOut ? number + inactiveBlocks : inactivity.outUntil })
  }
  return lapses
}

/** `queued`: waits to begin (activation-queue.ts); `inactive`: silent too long; `jailed`: by evidence. `qualifiedValidators` decides. */
export type ValidatorStatus = 'active' | 'queued' | 'inactive' | 'jailed'

export interface ValidatorRecord {
  readonly lapses: Inactivities
  readonly jailed: ReadonlySet<Hex>
  /** Members that have begun to serve and not sealed yet. */
  readonly unproven: ReadonlySet<Hex>
}

/** Returns true for a member that sealed in the last cycle it served; no liveness may depend on the others. */
export const isHeard = (member: Hex, { lapses, jailed, unproven }: ValidatorRecord): boolean =>
  !lapses.has(member) && !jailed.has(member) && !unproven.has(member)

/** Status of a member after block `number`, the last of a cycle. */
export const validatorStatus = (
  member: Hex,
  { lapses: inactivities, jailed }: Pick<ValidatorRecord, 'lapses' | 'jailed'>,
  number: number,
): Exclude<ValidatorStatus, 'queued'> => {
  if (jailed.has(member)) return 'jailed'
  return (inactivities.get(member)?.outUntil ?? 0) > number ? 'inactive' : 'active'
}

/** Registered council member. */
export interface Registered {
  readonly validator: Hex
  readonly admission: number
}

/**
 * Returns the members that may serve: all except excluded ones. Of the n registered members at most f = floor((n-1)/3) are excluded in
 * total, unless more are jailed: jailed members are excluded first, and inactive ones within the rest. At least
 * `COUNCIL_BOUNDS.leastServing` stay (all, where there are fewer): penalties alone must not halt a chain. The longest silent are excluded
 * first, of equals the one admitted last.
 *
 * Members whose exclusion has ended return on trial, f/2 at a time and at least one, and only as many as leave a quorum of active members:
 * a chain that progresses without them must not halt because of their trial.
 *
 * A council of more than `committeeSize` is sampled, so a quorum of a committee is enough.
 */
export const qualifiedValidators = <Member extends Registered>(
  council: readonly Member[],
  validatorRecord: ValidatorRecord,
  number: number,
  committeeSize: number = COUNCIL_BOUNDS.members,
): readonly Member[] => {
  const size = council.length
  const faults = faultsOf(size)
  const { jailed, inactive, returning, heard } = sorted(council, validatorRecord, number)
  const silent = [...inactive, ...returning]
  const outBySilence = (trials: number) => Math.min(silent.length - trials, Math.max(0, faults - jailed.length))
  let trials = Math.min(returning.length, trialsOf(size))
  const servingWith = (trials: number) => Math.min(size - jailed.length - outBySilence(trials), committeeSize)
  while (trials > 0 && heard < quorumOf(servingWith(trials))) trials--
  const out = [...jailed, ...silent.slice(0, outBySilence(trials))]
  const isOut = new Set(out.slice(0, Math.max(0, size - COUNCIL_BOUNDS.leastServing)))
  return council.filter(member => !isOut.has(member))
}

/** Groups a council by status, with the first to exclude at the head of each list; `heard`: number of members whose seals were seen. */
const sorted = <Member extends Registered>(
  council: readonly Member[],
  validatorRecord: ValidatorRecord,
  number: number,
) => {
  const jailed: Member[] = []
  const inactive: Member[] = []
  const returning: Member[] = []
  let heard = 0
  const silence = ({ validator }: Member) => validatorRecord.lapses.get(validator)?.silentBlocks ?? 0
  for (const member of council.toSorted((a, b) => silence(b) - silence(a) || b.admission - a.admission)) {
    const inactivity = validatorRecord.lapses.get(member.validator)
    if (isHeard(member.validator, validatorRecord)) heard++
    if (validatorRecord.jailed.has(member.validator)) jailed.push(member)
    else if (inactivity === undefined) continue
    else if (inactivity.outUntil > number) inactive.push(member)
    else if (inactivity.outUntil > 0) returning.push(member)
  }
  return { jailed, inactive, returning, heard }
}
