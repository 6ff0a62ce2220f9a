import type { Hex } from '@tandem/base/bytes.ts'
import type { SignedMessage } from '../../../src/primitives/consensus/message.ts'
import type { Value } from './values.ts'

/** Prepared value that a round change claims: 0 none, else 1 + 2 * round + value. Larger means prepared later. */
export type Claim = number
export const NOTHING: Claim = 0
export const preparedClaim = (round: number, value: Value): Claim => 1 + 2 * round + value
export const roundOfClaim = (claim: Claim): number => (claim - 1) >> 1
export const valueOfClaim = (claim: Claim): Value => ((claim - 1) & 1) as Value

/** Messages that one member has signed: bit `value` of a round's prepares and commits, bit `claim` of its round changes to a round. */
export interface SignedStatements {
  readonly prepares: readonly number[]
  readonly commits: readonly number[]
  readonly changes: readonly number[]
}

export const silence = (rounds: number): SignedStatements => ({
  prepares: new Array(rounds).fill(0),
  commits: new Array(rounds).fill(0),
  changes: new Array(rounds).fill(0),
})

/** The same with one more message; proposals are the adversary's and not kept. */
export const saying = (
  said: SignedStatements,
  message: SignedMessage,
  valueAt: (hash: Hex) => Value,
): SignedStatements => {
  const set = (bits: readonly number[], bit: number): number[] =>
    bits.map((before, round) => (round === message.round ? before | (1 << bit) : before))
  switch (message.type) {
    case 'prepare':
      return { ...said, prepares: set(said.prepares, valueAt(message.blockHash)) }
    case 'commit':
      return { ...said, commits: set(said.commits, valueAt(message.blockHash)) }
    case 'roundChange': {
      const { prepared } = message
      const claim = prepared === null ? NOTHING : preparedClaim(prepared.round, valueAt(prepared.blockHash))
      return { ...said, changes: set(said.changes, claim) }
    }
    case 'proposal':
      return said
  }
}
