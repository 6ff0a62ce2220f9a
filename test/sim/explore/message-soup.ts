import { type Claim, NOTHING, preparedClaim, roundOfClaim, type SignedStatements } from './said.ts'
import { VALUES } from './values.ts'

/** Messages of all honest members, as far as the adversary can use them: it may deliver any part, to any member, later. */
export interface MessageSoup {
  /** Members with the bit, `[round][value]`. */
  readonly prepares: readonly (readonly number[])[]
  /** Members that said a round change to this round with a claim: `[round][claim]`. */
  readonly changes: readonly (readonly number[])[]
  /** Members that said any round change to this round. */
  readonly changed: readonly number[]
}

export const messageSoup = (said: readonly SignedStatements[], rounds: number): MessageSoup => {
  const claims = preparedClaim(rounds - 1, 1) + 1
  const prepares: number[][] = []
  const changes: number[][] = []
  const changed: number[] = []
  for (let round = 0; round < rounds; round++) {
    const votes = [0, 0]
    const claimed = new Array<number>(claims).fill(0)
    let some = 0
    for (const { prepares: p, changes: c } of said) {
      const bits = p[round] as number
      for (const value of VALUES) if (bits & (1 << value)) votes[value] = (votes[value] as number) + 1
      let mask = c[round] as number
      if (mask !== 0) some++
      for (let claim = 0; mask !== 0; claim++, mask >>= 1) if (mask & 1) claimed[claim] = (claimed[claim] as number) + 1
    }
    prepares.push(votes)
    changes.push(claimed)
    changed.push(some)
  }
  return { prepares, changes, changed }
}

/** Members whose round change to `round` can stand beside `claim` as the latest one. */
export const compatible = (messageSoup: MessageSoup, round: number, claim: Claim): number => {
  const claimed = messageSoup.changes[round] as readonly number[]
  let count = 0
  claimed.forEach((members, other) => {
    if (other === claim || other === NOTHING || (claim !== NOTHING && roundOfClaim(other) < roundOfClaim(claim)))
      count += members
  })
  return count
}

/**
 * The same members without what nobody can use from `round` on: round changes to earlier rounds, and earlier prepares for a
 * block that fewer than `needed` honest members prepared (with all Byzantine ones no quorum, and no more will come). Of a quorum of prepares it is all the same who they are from.
 */
export const dropDead = (
  said: readonly SignedStatements[],
  round: number,
  needed: number,
): readonly SignedStatements[] => {
  const proven = (at: number, value: number): boolean =>
    said.filter(({ prepares }) => (prepares[at] as number) & (1 << value)).length >= needed
  const keep = (bits: number, at: number): number =>
    at >= round ? bits : VALUES.reduce<number>((kept, value) => kept | (proven(at, value) ? 1 << value : 0), 0)
  return said.map(({ prepares, commits, changes }) => ({
    prepares: prepares.map(keep),
    commits,
    changes: changes.map((bits, at) => (at >= round ? bits : 0)),
  }))
}
