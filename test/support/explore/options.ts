import { compatible, type MessageSoup } from './message-soup.ts'
import type { Move, Moves } from './moves.ts'
import { type Claim, NOTHING, preparedClaim, roundOfClaim, valueOfClaim } from './said.ts'
import { VALUES } from './values.ts'

/** Which moves what was said so far allows. Byzantine members stand in every quorum. */
export const movesOn = (moves: Moves, quorum: number, byzantine: number, rounds: number) => {
  const enough = (honest: number | undefined): boolean => (honest as number) + byzantine >= quorum

  /** Proposals that build on a claim, or pretend to. */
  const onClaims = (messageSoup: MessageSoup, round: number, proven: ReadonlySet<Claim>): readonly Move[] => {
    const usable: Move[] = []
    for (let claim = NOTHING + 1; claim < preparedClaim(round, 0); claim++) {
      const place = enough(compatible(messageSoup, round, claim))
      if (place && proven.has(claim)) usable.push(moves.again[round]?.[claim] as Move)
      if (place && !proven.has(claim)) {
        usable.push(...(moves.forged[round]?.[claim] ?? []))
        for (const earlier of proven)
          if (roundOfClaim(earlier) < roundOfClaim(claim) && valueOfClaim(earlier) === valueOfClaim(claim))
            usable.push(moves.stale[round]?.[claim]?.[earlier] as Move)
      }
      for (const later of proven.has(claim) ? proven : []) {
        const contradicts = roundOfClaim(later) > roundOfClaim(claim) && valueOfClaim(later) !== valueOfClaim(claim)
        if (contradicts && messageSoup.changes[round]?.[later])
          usable.push(moves.lower[round]?.[claim]?.[later] as Move)
      }
    }
    return usable
  }

  return (messageSoup: MessageSoup): readonly Move[] => {
    const usable: Move[] = []
    const proven = new Set<Claim>()
    for (let round = 0; round < rounds; round++) {
      for (const value of VALUES) {
        if (round === 0 || enough(messageSoup.changes[round]?.[NOTHING]))
          usable.push(moves.fresh[round]?.[value] as Move)
        else if (enough((messageSoup.changes[round]?.[NOTHING] as number) + 1))
          usable.push(moves.thin[round]?.[value] as Move)
      }
      if (enough(messageSoup.changed[round])) usable.push(...onClaims(messageSoup, round, proven))
      for (const value of VALUES) {
        if (!enough(messageSoup.prepares[round]?.[value])) continue
        usable.push(moves.prepares[round]?.[value] as Move)
        proven.add(preparedClaim(round, value))
      }
    }
    return usable
  }
}
