import { LIMITS } from '../config/limits.ts'
import { type Certificate, signerIndexes } from '../primitives/consensus/certificate.ts'
import type { Hex } from '../util/bytes.ts'
import { faultsOf, quorumOf } from './quorum.ts'

/*
 * Which members of a council may serve in a committee (docs/design/council.md#qualification, docs/design/council.md#qualification). All of it follows from what headers
 * hash, so that every node comes to the same: certificates of parents, and evidence.
 */

/** What one cycle's certificates say of its committee members: how many they stood in, and whether any holds a seal of theirs. */
export interface SealCounts {
  readonly certificates: number
  readonly sealed: boolean
}

/** A certificate with the committee whose indexes its bitmap counts. */
export interface CertificateOfCommittee {
  readonly members: readonly Hex[]
  readonly certificate: Certificate
}

/** A member that has not been heard of. Who seals regularly has none. */
export interface Inactivity {
  /** Certificates it stood in since its last seal. */
  readonly silentBlocks: number
  /** It is to be out up to this block, inclusive; 0: it never was since its last seal. */
  readonly outUntil: number
}

export type Inactivities = ReadonlyMap<Hex, Inactivity>

export const countSeals = (sealings: Iterable<CertificateOfCommittee>): ReadonlyMap<Hex, SealCounts> => {
  const attendance = new Map<Hex, SealCounts>()
  for (const { members, certificate } of sealings) {
    const signers = new Set(signerIndexes(certificate))
    members.forEach((member, index) => {
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
 * The lapses after a cycle's last block `number`. One seal ends a lapse. `inactiveBlocks` certificates in a row without one make a
 * member inactive for as many blocks; what it missed stays on the record, so that after its return one silent cycle is enough. Who
 * does not stand in a committee can miss nothing.
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

/** `inactive`: silent for too long; `jailed`: by evidence. `qualifiedValidators` says which of them serve all the same. */
export type ValidatorStatus = 'active' | 'inactive' | 'jailed'

export interface ValidatorRecord {
  readonly lapses: Inactivities
  readonly jailed: ReadonlySet<Hex>
}

/** How a member stands after block `number`, the last of a cycle. */
export const validatorStatus = (
  member: Hex,
  { lapses: inactivities, jailed }: ValidatorRecord,
  number: number,
): ValidatorStatus => {
  if (jailed.has(member)) return 'jailed'
  return (inactivities.get(member)?.outUntil ?? 0) > number ? 'inactive' : 'active'
}

/** A member of a council. */
export interface Registered {
  readonly validator: Hex
  /** Number of its admission. */
  readonly admission: number
}

/**
 * The members that may serve: all but those that are out. Of the n registered members no more than f = floor((n-1)/3) are out in all,
 * unless more are jailed: jail goes first, and silence takes what it leaves. At least `LIMITS.council.leastServing` stay (all, where there
 * are fewer): penalties alone must not halt a chain. The longest silent go out first, of equals the one admitted last.
 *
 * Members whose time out is over return on trial, f/2 at a time and at least one, and only as many as leave a quorum of members that
 * were heard: a chain that goes on without them must not halt because they are tried.
 */
export const qualifiedValidators = <Member extends Registered>(
  council: readonly Member[],
  validatorRecord: ValidatorRecord,
  number: number,
): readonly Member[] => {
  const size = council.length
  const faults = faultsOf(size)
  const { jailed, inactive, returning, heard } = sorted(council, validatorRecord, number)
  const silent = [...inactive, ...returning]
  const outBySilence = (trials: number) => Math.min(silent.length - trials, Math.max(0, faults - jailed.length))
  let trials = Math.min(returning.length, Math.max(1, Math.floor(faults / 2)))
  while (trials > 0 && heard < quorumOf(size - jailed.length - outBySilence(trials))) trials--
  const out = [...jailed, ...silent.slice(0, outBySilence(trials))]
  const isOut = new Set(out.slice(0, Math.max(0, size - LIMITS.council.leastServing)))
  return council.filter(member => !isOut.has(member))
}

/** A council by how its members stand, those that go out first at the head of each list; `heard`: how many have no lapse. */
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
    if (validatorRecord.jailed.has(member.validator)) jailed.push(member)
    else if (inactivity === undefined) heard++
    else if (inactivity.outUntil > number) inactive.push(member)
    else if (inactivity.outUntil > 0) returning.push(member)
  }
  return { jailed, inactive, returning, heard }
}
