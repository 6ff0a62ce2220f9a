import { LIMITS } from '../config/limits.ts'
import { type Certificate, signerIndexes } from '../primitives/consensus/certificate.ts'
import type { Hex } from '../util/bytes.ts'
import { faultsOf, quorumOf } from './quorum.ts'

/*
 * Which members of a council may serve in a committee (DESIGN 4, reference/consensus.md 1.9). All of it follows from what headers
 * hash, so that every node comes to the same: certificates of parents, and evidence.
 */

/** What one cycle's certificates say of its committee members: how many they stood in, and whether any holds a seal of theirs. */
export interface Attendance {
  readonly certificates: number
  readonly sealed: boolean
}

/** A certificate with the committee whose indexes its bitmap counts. */
export interface Sealing {
  readonly members: readonly Hex[]
  readonly certificate: Certificate
}

/** A member that has not been heard of. Who seals regularly has none. */
export interface Lapse {
  /** Certificates it stood in since its last seal. */
  readonly silentBlocks: number
  /** It is to be out up to this block, inclusive; 0: it never was since its last seal. */
  readonly outUntil: number
}

export type Lapses = ReadonlyMap<Hex, Lapse>

export const attendanceOf = (sealings: Iterable<Sealing>): ReadonlyMap<Hex, Attendance> => {
  const attendance = new Map<Hex, Attendance>()
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
export const nextLapses = (
  council: readonly Hex[],
  before: Lapses,
  attendance: ReadonlyMap<Hex, Attendance>,
  { number, inactiveBlocks }: { readonly number: number; readonly inactiveBlocks: number },
): Lapses => {
  const lapses = new Map<Hex, Lapse>()
  for (const member of council) {
    const attended = attendance.get(member)
    if (attended?.sealed) continue
    const lapse = before.get(member) ?? { silentBlocks: 0, outUntil: 0 }
    const silentBlocks = lapse.silentBlocks + (attended?.certificates ?? 0)
    if (silentBlocks === 0) continue
    const isOut = attended !== undefined && silentBlocks >= inactiveBlocks
    lapses.set(member, { silentBlocks, outUntil: isOut ? number + inactiveBlocks : lapse.outUntil })
  }
  return lapses
}

/** `inactive`: silent for too long; `jailed`: by evidence. `qualifiedOf` says which of them serve all the same. */
export type Standing = 'active' | 'inactive' | 'jailed'

export interface Service {
  readonly lapses: Lapses
  readonly jailed: ReadonlySet<Hex>
}

/** How a member stands after block `number`, the last of a cycle. */
export const standingOf = (member: Hex, { lapses, jailed }: Service, number: number): Standing => {
  if (jailed.has(member)) return 'jailed'
  return (lapses.get(member)?.outUntil ?? 0) > number ? 'inactive' : 'active'
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
export const qualifiedOf = <Member extends Registered>(
  council: readonly Member[],
  service: Service,
  number: number,
): readonly Member[] => {
  const size = council.length
  const faults = faultsOf(size)
  const { jailed, inactive, returning, heard } = sorted(council, service, number)
  const silent = [...inactive, ...returning]
  const outBySilence = (trials: number) => Math.min(silent.length - trials, Math.max(0, faults - jailed.length))
  let trials = Math.min(returning.length, Math.max(1, Math.floor(faults / 2)))
  while (trials > 0 && heard < quorumOf(size - jailed.length - outBySilence(trials))) trials--
  const out = [...jailed, ...silent.slice(0, outBySilence(trials))]
  const isOut = new Set(out.slice(0, Math.max(0, size - LIMITS.council.leastServing)))
  return council.filter(member => !isOut.has(member))
}

/** A council by how its members stand, those that go out first at the head of each list; `heard`: how many have no lapse. */
const sorted = <Member extends Registered>(council: readonly Member[], service: Service, number: number) => {
  const jailed: Member[] = []
  const inactive: Member[] = []
  const returning: Member[] = []
  let heard = 0
  const silence = ({ validator }: Member) => service.lapses.get(validator)?.silentBlocks ?? 0
  for (const member of council.toSorted((a, b) => silence(b) - silence(a) || b.admission - a.admission)) {
    const lapse = service.lapses.get(member.validator)
    if (service.jailed.has(member.validator)) jailed.push(member)
    else if (lapse === undefined) heard++
    else if (lapse.outUntil > number) inactive.push(member)
    else if (lapse.outUntil > 0) returning.push(member)
  }
  return { jailed, inactive, returning, heard }
}
