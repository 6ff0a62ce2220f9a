import type { Proposal } from '../../../src/primitives/consensus/proposal.ts'
import type { Commit, Prepare, RoundChangePayload } from '../../../src/primitives/consensus/vote.ts'
import { proposerIndex } from '../../../src/rules/council/proposer-turns.ts'
import { type Claim, NOTHING, roundOfClaim, valueOfClaim } from './said.ts'
import { HEIGHT, type Value, type Values } from './values.ts'

/*
 * Messages as the adversary hands them over. Nothing is signed here: the explorer only ever delivers what honest members said and
 * what Byzantine ones might say.
 */

const SIGNATURE = new Uint8Array(65)

const placed = (sender: number, round: number, number = HEIGHT) => ({ number, round, sender, signature: SIGNATURE })

export const createForge = (values: Values, size: number) => {
  const hashOf = (value: Value) => values.block(value, 0).hash
  const prepare = (sender: number, round: number, value: Value, number?: number): Prepare => ({
    type: 'prepare',
    ...placed(sender, round, number),
    blockHash: hashOf(value),
  })
  const change = (sender: number, round: number, claim: Claim, number?: number): RoundChangePayload => ({
    type: 'roundChange',
    ...placed(sender, round, number),
    prepared: claim === NOTHING ? null : { round: roundOfClaim(claim), blockHash: hashOf(valueOfClaim(claim)) },
  })
  return {
    prepare,
    change,
    commit: (sender: number, round: number, value: Value): Commit => ({
      ...prepare(sender, round, value),
      type: 'commit',
    }),
    /** `named`: round whose proposer the header names. */
    proposal: (
      round: number,
      value: Value,
      named: number,
      roundChanges: readonly RoundChangePayload[],
      prepares: readonly Prepare[],
    ): Proposal => ({
      type: 'proposal',
      ...placed(proposerIndex({ members: [], proposers: size }, HEIGHT, round), round),
      block: values.block(value, proposerIndex({ members: [], proposers: size }, HEIGHT, named)),
      roundChanges,
      prepares,
    }),
  }
}
