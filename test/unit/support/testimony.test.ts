import type { Hex } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import { statementDigest } from '../../../src/consensus/evidence/statement.ts'
import type { ProposalHead } from '../../../src/primitives/consensus/proposal.ts'
import { proposalDigest } from '../../../src/primitives/consensus/proposal.ts'
import type { Prepare, RoundChange, Vote } from '../../../src/primitives/consensus/vote.ts'
import { DOMAIN, signerOf } from '../../support/consensus/member.ts'
import { Testimony } from '../../support/consensus/testimony.ts'

const block = (of: number): Hex => `0x${of.toString(16).padStart(64, '0')}`
const UNSIGNED = { number: 7, round: 0, sender: 0, signature: new Uint8Array(65) }

const signed = <Message extends Vote>(message: Message, by = message.sender): Message => ({
  ...message,
  signature: signerOf(by).sign(statementDigest(DOMAIN, message)),
})
const vote = (parts: Pick<Vote, 'type'> & Partial<Omit<Prepare, 'type'>>): Vote =>
  signed({ ...UNSIGNED, blockHash: block(1), ...parts } as Vote)
const change = (round: number, preparedRound: number | null, prepares: readonly Prepare[] = []): RoundChange =>
  signed({
    ...{ ...UNSIGNED, type: 'roundChange', round, prepares },
    prepared: preparedRound === null ? null : { round: preparedRound, blockHash: block(1) },
  })
const proposal = (of: number, sender = 0): ProposalHead => {
  const head = { ...UNSIGNED, type: 'proposal', sender, blockHash: block(of), roundChanges: [], prepares: [] } as const
  return { ...head, signature: signerOf(sender).sign(proposalDigest(DOMAIN, head)) }
}

const heard = (...messages: readonly (Vote | ProposalHead)[]): Testimony => {
  const testimony = new Testimony(
    DOMAIN,
    [0, 1, 2, 3].map(index => signerOf(index).address),
  )
  for (const message of messages) testimony.hear(message)
  return testimony
}

describe('testimony', () => {
  test('finds nothing in what an honest validator says, however often', () => {
    const said = [proposal(1), vote({ type: 'prepare' }), vote({ type: 'commit' }), change(1, 0), change(2, 0)]
    const { contradictions, counts } = heard(
      ...said,
      ...said,
      vote({ type: 'prepare', sender: 1, blockHash: block(2) }),
    )
    expect(contradictions).toEqual([])
    expect([...counts.values()]).toEqual([5, 1])
  })

  test.each([
    ['prepare', vote({ type: 'prepare' }), vote({ type: 'prepare', blockHash: block(2) })],
    ['commit', vote({ type: 'commit' }), vote({ type: 'commit', blockHash: block(2) })],
    ['proposal', proposal(1), proposal(2)],
    ['roundChange', change(1, 0), change(1, null)],
  ])('two of a %s in one round', (kind, one, other) => {
    expect(heard(one, other).contradictions).toEqual([expect.stringContaining(`signed two: ${kind}`)])
  })

  test.each([
    [[vote({ type: 'commit', round: 1 }), change(2, 0)]],
    [[change(2, null), vote({ type: 'commit', round: 1 })]],
  ])('a commit that is forgotten, in whatever order it is heard', messages => {
    expect(heard(...messages).contradictions).toEqual([expect.stringContaining('forgot')])
  })

  test('what stands in a justification counts', () => {
    const prepare = (of: number) => vote({ type: 'prepare', sender: 1, blockHash: block(of) }) as Prepare
    const { contradictions } = heard(change(1, 0, [prepare(1)]), { ...change(2, 0), prepares: [prepare(2)] })
    expect(contradictions).toEqual([expect.stringContaining(signerOf(1).address)])
  })

  test('no validator is accused by a message it did not sign', () => {
    const stranger = signed(vote({ type: 'prepare' }), 9)
    const { contradictions, counts } = heard(vote({ type: 'prepare' }), stranger)
    expect(contradictions).toEqual([expect.stringContaining('signed by no validator')])
    expect([...counts.keys()]).toEqual([signerOf(0).address])
  })
})
