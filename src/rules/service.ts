import { LIMITS } from '../config/limits.ts'
import { type Certificate, signerIndexes } from '../primitives/certificate.ts'
import type { Hex } from '../util/bytes.ts'

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
  /** It is put out up to this block, inclusive; 0: it was not. */
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
 * The lapses after a cycle's last block `number`. One seal ends a lapse. `inactiveBlocks` certificates in a row without one put a
 * member out for as many blocks; what it missed stays on the record, so that after its return one silent cycle is enough. Who does
 * not stand in a committee can miss nothing.
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

/** `inactive`: silent for too long; `jailed`: by evidence. Neither serves unless too few others are left. */
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

/**
 * The members that may serve: the active ones, filled up to `LIMITS.council.leastServing` (or the whole council, where it is
 * smaller) with inactive ones, the least silent first, and then with jailed ones: penalties alone must not halt a chain.
 */
export const qualifiedOf = (council: readonly Hex[], service: Service, number: number): readonly Hex[] => {
  const ranked = council
    .map(member => ({ member, rank: RANK[standingOf(member, service, number)], lapse: service.lapses.get(member) }))
    .sort(
      (a, b) =>
        a.rank - b.rank ||
        (a.lapse?.silentBlocks ?? 0) - (b.lapse?.silentBlocks ?? 0) ||
        (a.member < b.member ? -1 : 1),
    )
  const active = ranked.filter(({ rank }) => rank === RANK.active).length
  return ranked.slice(0, Math.max(active, LIMITS.council.leastServing)).map(({ member }) => member)
}

const RANK: Readonly<Record<Standing, number>> = { active: 0, inactive: 1, jailed: 2 }
