import type { Effect } from '../../../src/consensus/core/types.ts'
import type { Block } from '../../../src/primitives/block.ts'
import { block, CoreBench, commit, roundChange } from '../../support/consensus/core-bench.ts'

/* Bodies of prepared blocks: requested, kept and forgotten (docs/design/consensus.md#missing-bodies). */

const FIRST = block(1, 1)

const requested = (effects: readonly Effect[]): readonly string[] =>
  effects.flatMap(effect =>
    effect.type === 'broadcast' && effect.message.type === 'status' ? [effect.message.wanted ?? 'nothing'] : [],
  )

/** Member 0 of seven proposes in round 6: one member claims a block of round 1, another one of round 0; it has neither. */
const twoClaims = (): { readonly bench: CoreBench; readonly blocks: readonly [Block, Block] } => {
  const bench = new CoreBench(0, 7)
  const blocks = [block(2, 2), FIRST] as const
  const by = [1, 2, 3, 4, 5]
  bench.hear(roundChange(1, 6, { round: 1, of: blocks[0], by }), roundChange(2, 6, { round: 0, of: FIRST, by }))
  bench.hear(roundChange(3, 6), roundChange(4, 6), roundChange(5, 6))
  return { bench, blocks }
}

const lowerClaim = (): string | null => {
  const { bench } = twoClaims()
  bench.hear({ type: 'body', block: FIRST })
  const sent = bench.effects.flatMap(effect =>
    effect.type === 'sign' && effect.message.type === 'proposal' ? [effect.message] : [],
  )
  if (sent[0]?.block !== FIRST) return 'the body of a lower claim is not asked for, although it would do'
  return sent[0].roundChanges.some(({ sender }) => sender === 1) ? 'a claim above the proposed block is kept' : null
}

const inTurn = (): string | null => {
  const { bench, blocks } = twoClaims()
  const named = [1, 2, 3, 4].flatMap(() => requested(bench.timeout('retransmit')))
  return blocks.every(({ hash }) => named.filter(name => name === hash).length === 2) ? null : `asked for ${named}`
}

const endedRequests = (): string | null => {
  const { bench } = twoClaims()
  bench.hear(...[1, 2, 3, 4, 5].map(sender => roundChange(sender, 7)))
  const named = requested(bench.timeout('retransmit'))
  return named[0] === 'nothing' ? null : 'the body of an earlier round is still asked for'
}

const decidedBody = (): string | null => {
  const bench = new CoreBench(0)
  bench.hear(...[1, 2, 3].map(sender => commit(sender, 0, FIRST)), roundChange(1, 2), roundChange(2, 2))
  if (bench.round !== 2) return 'the round is not left'
  return requested(bench.timeout('retransmit'))[0] === FIRST.hash ? null : 'a decided block is given up with its round'
}

/** Scenarios by name; each returns the fault it shows, null where there is none. */
export const BODY_SCENARIOS = {
  'of several missing bodies any that would do is proposed': lowerClaim,
  'several missing bodies are asked for in turn': inTurn,
  'requests for bodies end with their round': endedRequests,
  'the body of a decided block is requested in all rounds': decidedBody,
} as const satisfies Readonly<Record<string, () => string | null>>
