import { describe, expect, test } from 'vitest'
import { walCheckpoint } from '../../../../src/consensus/core/effects.ts'
import { justificationFromRoundChanges } from '../../../../src/consensus/core/messages/justification.ts'
import { hasQuorumAtRound } from '../../../../src/consensus/core/rounds.ts'
import type { Effect } from '../../../../src/consensus/core/types.ts'
import { signerIndexes } from '../../../../src/primitives/consensus/certificate.ts'
import {
  block,
  CoreBench,
  commit,
  PARENT,
  prepare,
  proposal,
  roundChange,
} from '../../../support/consensus/core-bench.ts'

// Four members, quorum three, one may be faulty. Height 1: member 1 proposes round 0, member 2 round 1, and so on.
const B = block(1, 1)

const preparedBench = (index = 0) => {
  const bench = new CoreBench(index)
  bench.hear(proposal(1, 0, B))
  bench.judge(true)
  bench.hear(prepare(1, 0, B), prepare(2, 0, B))
  return bench
}

describe('the way to a decision', () => {
  test('proposal, prepare, commit, decision; every message is logged before it is sent', () => {
    const bench = preparedBench()
    expect(bench.said()).toEqual(['prepare 0', 'commit 0'])
    bench.hear(commit(1, 0, B), commit(3, 0, B))
    const { certificate } = bench.decided()!
    expect(signerIndexes(certificate)).toEqual([0, 1, 3])
    expect(certificate.seals.map(seal => seal[0])).toEqual([1, 2, 4])
    const order = bench.effects.map(effect => (effect.type === 'persist' ? effect.record.type : effect.type))
    const told = order.filter(kind => !['schedule', 'sign', 'validate'].includes(kind))
    expect(told).toEqual([
      'block',
      'proposal',
      'signed',
      'broadcast',
      'prepared',
      'signed',
      'broadcast',
      'decided',
      'decide',
    ])
  })

  test('the proposer of round 0 builds when its time has come, not before', () => {
    const bench = new CoreBench(1)
    expect(bench.effects.some(effect => effect.type === 'build')).toBe(false)
    bench.timeout('propose')
    expect(bench.effects.filter(effect => effect.type === 'build')).toHaveLength(1)
    bench.feed({ type: 'built', number: 1, round: 0, block: B, nowMs: 5 })
    expect(bench.said()).toEqual(['proposal 0', 'prepare 0'])
    bench.timeout('propose')
    expect(bench.effects.filter(effect => effect.type === 'build')).toHaveLength(1)
  })

  test('a committee of one decides in the turn in which its block is there', () => {
    const bench = new CoreBench(0, 1)
    bench.timeout('propose')
    bench.feed({ type: 'built', number: 1, round: 0, block: block(7, 0), nowMs: 5 })
    expect(bench.said()).toEqual(['proposal 0', 'prepare 0', 'commit 0'])
    expect(bench.decided()?.certificate.round).toBe(0)
  })

  test('votes may come before the proposal', () => {
    const bench = new CoreBench(0)
    bench.hear(commit(1, 0, B), commit(2, 0, B), prepare(1, 0, B), prepare(2, 0, B), proposal(1, 0, B))
    bench.judge(true)
    expect(bench.decided()?.block).toBe(B)
  })

  test('a duplicate counts once', () => {
    const bench = new CoreBench(0)
    bench.hear(proposal(1, 0, B))
    bench.judge(true)
    bench.hear(prepare(1, 0, B), prepare(1, 0, B), prepare(1, 0, B))
    expect(bench.said()).toEqual(['prepare 0'])
    bench.hear(prepare(2, 0, B), commit(1, 0, B), commit(1, 0, B))
    expect(bench.decided()).toBeUndefined()
  })

  test('commits of an earlier round decide as well', () => {
    const bench = preparedBench()
    bench.timeout('round')
    expect(bench.round).toBe(1)
    bench.hear(commit(1, 0, B), commit(2, 0, B))
    expect(bench.decided()?.certificate.round).toBe(0)
  })

  test('commits of different rounds do not add up', () => {
    const bench = preparedBench()
    bench.hear(commit(1, 1, B), commit(2, 2, B), commit(3, 3, B))
    expect(bench.decided()).toBeUndefined()
  })

  test('a decision without the body waits for it, and takes it only when asked for', () => {
    const bench = new CoreBench(0)
    const other = block(2, 1)
    bench.hear(commit(1, 0, B), commit(2, 0, B), { type: 'body', block: other })
    bench.hear(commit(3, 0, B))
    expect(bench.effects.at(-1)).toMatchObject({ type: 'broadcast', message: { type: 'status', wanted: B.hash } })
    bench.hear({ type: 'body', block: other })
    expect(bench.decided()).toBeUndefined()
    bench.hear({ type: 'body', block: B })
    expect(bench.decided()?.block).toBe(B)
  })

  test('a whole decision from a neighbour is taken', () => {
    const bench = new CoreBench(0)
    const certificate = { round: 3, bitmap: Uint8Array.of(0b1110), seals: [] }
    bench.hear({ type: 'decided', block: B, certificate })
    expect(bench.decided()).toMatchObject({ block: B, certificate })
    const { config } = bench.state.height!
    bench.open({ ...config, number: 2, parentHash: B.hash })
    // The peer that sent this height may have the next one too.
    expect(bench.effects.find(effect => effect.type === 'send')).toMatchObject({
      to: 'peer',
      message: { type: 'status', number: 2 },
    })
  })

  test('a follower decides and says nothing', () => {
    const bench = new CoreBench(-1)
    bench.hear(proposal(1, 0, B))
    bench.judge(true)
    bench.hear(...[0, 1, 2].map(sender => prepare(sender, 0, B)), ...[0, 1, 2].map(sender => commit(sender, 0, B)))
    bench.timeout('retransmit')
    expect(bench.decided()?.block).toBe(B)
    expect(bench.said()).toEqual([])
    expect(bench.effects.some(effect => effect.type === 'persist')).toBe(false)
  })
})

describe('proposals that are not accepted', () => {
  const bad: readonly (readonly [string, ReturnType<typeof proposal>])[] = [
    ['by somebody whose turn it is not', proposal(2, 0, block(3, 2))],
    ['naming another proposer', proposal(1, 0, block(3, 2))],
    ['of another height', proposal(1, 0, block(3, 1, { number: 2 }))],
    ['on another parent', proposal(1, 0, block(3, 1, { parentHash: `0x${'12'.repeat(32)}` }))],
    ['of a later round without a reason', proposal(2, 1, block(3, 2))],
    ['of round 0 with a reason', proposal(1, 0, block(3, 1), { roundChanges: [roundChange(1, 0)], prepares: [] })],
  ]
  test.each(bad)('%s', (_, offered) => {
    const bench = new CoreBench(0)
    bench.hear(offered)
    expect(bench.effects.some(effect => effect.type === 'validate')).toBe(false)
    expect(bench.said()).not.toContain(`prepare ${offered.round}`)
  })

  test('a reason in round 0, which no signature covers, is not held against the proposer', () => {
    const bench = new CoreBench(0)
    // Anybody who passes the proposal on could have put it there.
    bench.hear(proposal(1, 0, B, { roundChanges: [], prepares: [prepare(3, 0, B)] }))
    expect(bench.said()).toEqual([])
    bench.hear(proposal(1, 0, B))
    bench.judge(true)
    expect(bench.said()).toEqual(['prepare 0'])
  })

  test('one proven invalid is not waited for', () => {
    const bench = new CoreBench(0)
    bench.hear(proposal(1, 0, B))
    expect(bench.said(bench.judge(false))).toEqual(['roundChange 1'])
  })

  test('one that could not be judged is waited out, and judged anew when it is proposed again', () => {
    const bench = new CoreBench(0)
    bench.hear(proposal(1, 0, B))
    expect(bench.judge(false, false)).toEqual([])
    const by = [1, 2, 3]
    const changes = by.map(sender => roundChange(sender, 1, { round: 0, of: B, by }))
    bench.hear(proposal(2, 1, B, { roundChanges: changes, prepares: by.map(sender => prepare(sender, 0, B)) }))
    expect(bench.said(bench.judge(true))).toEqual(['prepare 1'])
  })

  test('one proven invalid before is refused at once when it is proposed again', () => {
    const bench = new CoreBench(0)
    bench.hear(proposal(1, 0, B))
    bench.judge(false)
    const by = [1, 2, 3]
    const changes = by.map(sender => roundChange(sender, 1, { round: 0, of: B, by }))
    const again = proposal(2, 1, B, { roundChanges: changes, prepares: by.map(sender => prepare(sender, 0, B)) })
    expect(bench.said(bench.hear(again))).toEqual(['roundChange 2'])
  })

  test('a second one for the round does not count', () => {
    const bench = new CoreBench(0)
    bench.hear(proposal(1, 0, B), proposal(1, 0, B), proposal(1, 0, block(9, 1)))
    bench.judge(true)
    expect(bench.said()).toEqual(['prepare 0'])
  })

  test('of two different votes of one member for a round the first one counts', () => {
    const other = block(9, 1)
    const bench = preparedBench()
    bench.hear(prepare(2, 0, other), commit(2, 0, B), commit(2, 0, other), commit(1, 0, B))
    expect(bench.decided()?.block).toBe(B)
  })
})

describe('work whose result is no longer needed', () => {
  const by = [1, 2, 3]
  const isFor =
    (of: { readonly hash: string }, type: 'validate' | 'cancelValidation') =>
    (effect: Effect): boolean =>
      effect.type === type &&
      ('block' in effect ? effect.block.hash : (effect as { blockHash: string }).blockHash) === of.hash
  const again = (round: number, from: number) =>
    proposal((round + 1) % 4, round, B, {
      roundChanges: by.map(sender => roundChange(sender, round, { round: from, of: B, by })),
      prepares: by.map(sender => prepare(sender, from, B)),
    })

  test('a fresh proposal is left with its round, and validated from the beginning when it is proposed again', () => {
    const bench = new CoreBench(0)
    bench.hear(proposal(1, 0, B))
    expect(bench.timeout('round').filter(isFor(B, 'cancelValidation'))).toHaveLength(1)
    // A result of the cancelled validation is ignored.
    expect(bench.judge(true)).toEqual([])
    expect(bench.hear(again(1, 0)).filter(isFor(B, 'validate'))).toHaveLength(1)
    expect(bench.said(bench.judge(true))).toEqual(['prepare 1'])
  })

  test('following others to a later round leaves it too', () => {
    const bench = new CoreBench(0)
    bench.hear(proposal(1, 0, B))
    expect(bench.hear(roundChange(2, 3), roundChange(3, 3)).filter(isFor(B, 'cancelValidation'))).toHaveLength(1)
  })

  test('a block that a quorum prepared goes on through the rounds, however long it takes', () => {
    const bench = new CoreBench(1)
    bench.hear(again(1, 0))
    const effects = [2, 3].flatMap(round => [...bench.timeout('round'), ...bench.hear(again(round, 0))])
    effects.push(...bench.timeout('round'))
    expect(effects.filter(({ type }) => type === 'cancelValidation' || type === 'validate')).toEqual([])
    expect(bench.state.height?.round).toBe(3)
    expect(bench.said(bench.judge(true))).toEqual(['prepare 3'])
  })

  test('one verdict serves a fresh proposal and the same block proposed again; a refusal only the one that it was requested for', () => {
    for (const isRefused of [false, true]) {
      const bench = new CoreBench(0)
      bench.hear(proposal(1, 0, B))
      const effects = [...bench.hear(again(1, 0)), ...bench.timeout('round')]
      expect(effects.filter(({ type }) => type === 'cancelValidation' || type === 'validate')).toEqual([])
      if (isRefused) {
        const [asked, ...others] = bench.judge(false, false).filter(isFor(B, 'validate'))
        expect(asked).toMatchObject({ round: 1, fresh: false })
        expect(others).toEqual([])
      }
      expect(bench.said(bench.judge(true))).toEqual(['prepare 1'])
    }
  })

  test('what is refused in the last round that proposes it is not requested again', () => {
    const bench = new CoreBench(0)
    bench.hear(proposal(1, 0, B), again(1, 0), again(2, 1))
    const requested = (effects: readonly Effect[]) => effects.flatMap(e => (e.type === 'validate' ? [e.round] : []))
    expect(requested(bench.judge(false, false))).toEqual([1])
    expect(requested(bench.judge(false, false))).toEqual([2])
    expect(bench.judge(false, false)).toEqual([])
  })

  test('a proposal of a later round does not end with the round before it', () => {
    const bench = new CoreBench(0)
    const next = block(2, 2)
    const changes = by.map(sender => roundChange(sender, 1))
    bench.hear(proposal(2, 1, next, { roundChanges: changes, prepares: [] }))
    expect(bench.timeout('round').filter(isFor(next, 'cancelValidation'))).toEqual([])
    expect(bench.said(bench.judge(true))).toEqual(['prepare 1'])
  })

  test('a decision ends the validation of other blocks, and not that of the decided one', () => {
    const bench = new CoreBench(0)
    bench.hear(proposal(1, 0, B))
    bench.timeout('round')
    const next = block(2, 2)
    bench.hear(proposal(2, 1, next, { roundChanges: by.map(sender => roundChange(sender, 1)), prepares: [] }))
    const decided = bench.hear(...by.map(sender => commit(sender, 1, next)))
    expect(decided.filter(({ type }) => type === 'cancelValidation')).toEqual([])
    const other = new CoreBench(0)
    other.hear(proposal(1, 0, B))
    const whole = other.hear({ type: 'decided', block: next, certificate: bench.decided()!.certificate })
    expect(whole.filter(isFor(B, 'cancelValidation'))).toHaveLength(1)
  })

  test('the block being built is left with its round', () => {
    const bench = new CoreBench(1)
    bench.timeout('propose')
    expect(bench.timeout('round').map(({ type }) => type)).toContain('cancelBuild')
    expect(bench.feed({ type: 'built', number: 1, round: 0, block: B, nowMs: 0 })).toEqual([])
  })
})

describe('changes of round', () => {
  test('a timeout leads to the next round and tells what is prepared', () => {
    const bench = preparedBench()
    const [change] = bench.timeout('round').flatMap(effect => (effect.type === 'sign' ? [effect.message] : []))
    expect(change).toMatchObject({ type: 'roundChange', round: 1, prepared: { round: 0, blockHash: B.hash } })
    expect(change?.type === 'roundChange' && change.prepares.map(vote => vote.sender)).toEqual([0, 1, 2])
  })

  test('a member that reaches too few others stays in its round, and goes on when they are back', () => {
    const bench = new CoreBench(0)
    const fire = (isolated: boolean) =>
      bench.feed({ type: 'timeout', timer: 'round', number: 1, round: bench.round, isolated, nowMs: 10_000 })
    const effects = fire(true)
    expect(bench.round).toBe(0)
    expect(effects).toMatchObject([{ type: 'schedule', timer: 'round', round: 0, atMs: 11_000 }])
    fire(false)
    expect(bench.said()).toEqual(['roundChange 1'])
  })

  test('a proposer that reaches too few others offers nothing until they are back', () => {
    const bench = new CoreBench(1)
    const propose = { type: 'timeout', timer: 'propose', number: 1, round: 0 } as const
    const effects = bench.feed({ ...propose, isolated: true, nowMs: 0 })
    expect(effects).toEqual([{ type: 'schedule', timer: 'propose', number: 1, round: 0, atMs: 500 }])
    expect(bench.feed({ ...propose, nowMs: 500 })).toEqual([{ type: 'build', number: 1, round: 0 }])
  })

  test('timers double up to a cap', () => {
    const bench = new CoreBench(0)
    const waits: number[] = []
    for (let round = 0; round < 10; round++) {
      for (const effect of bench.timeout('round')) if (effect.type === 'schedule') waits.push(effect.atMs)
    }
    expect(waits).toEqual([2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000, 60_000, 60_000])
  })

  test('a round is accompanied once a quorum came as far, and its timer runs from there', () => {
    const bench = new CoreBench(0)
    expect(hasQuorumAtRound(bench.state.height!)).toBe(true)
    bench.timeout('round')
    bench.hear(roundChange(1, 1))
    expect(hasQuorumAtRound(bench.state.height!)).toBe(false)
    bench.nowMs = 700
    // One further ahead came as far, too.
    expect(bench.hear(roundChange(2, 4))).toMatchObject([{ type: 'schedule', timer: 'round', round: 1, atMs: 2_700 }])
    expect(hasQuorumAtRound(bench.state.height!)).toBe(true)
    // Later messages change nothing.
    expect(bench.hear(roundChange(2, 5))).toEqual([])
  })

  test('a proposal shows a quorum in its round, whichever peer relays its round changes', () => {
    const bench = new CoreBench(0)
    bench.hear(
      proposal(2, 1, block(9, 2), { roundChanges: [1, 2, 3].map(sender => roundChange(sender, 1)), prepares: [] }),
    )
    bench.judge(true)
    expect(bench.round).toBe(1)
    expect(hasQuorumAtRound(bench.state.height!)).toBe(true)
  })

  test('one member far ahead moves no other; with two the others move to the lower of their rounds', () => {
    const bench = new CoreBench(0)
    bench.hear(roundChange(1, 2 ** 31))
    expect(bench.round).toBe(0)
    bench.hear(roundChange(2, 5))
    expect(bench.round).toBe(5)
    expect(bench.said()).toEqual(['roundChange 5'])
  })

  test('a flood of round changes keeps one of each member', () => {
    const bench = new CoreBench(0)
    for (let round = 1; round <= 1_000; round++) bench.hear(roundChange(3, round))
    expect(bench.state.height!.roundChanges.size).toBe(1)
    expect(bench.round).toBe(0)
  })

  test('the proposer of the round proposes a fresh block when no block was prepared', () => {
    const bench = new CoreBench(2)
    bench.hear(roundChange(0, 1), roundChange(3, 1))
    expect(bench.effects.at(-1)).toMatchObject({ type: 'build', number: 1, round: 1 })
    bench.feed({ type: 'built', number: 1, round: 1, block: block(8, 2), nowMs: 0 })
    const sent = bench.effects.flatMap(effect =>
      effect.type === 'sign' && effect.message.type === 'proposal' ? [effect.message] : [],
    )
    expect(sent[0]?.roundChanges.map(change => change.sender)).toEqual([0, 2, 3])
    expect(sent[0]?.roundChanges.every(change => !('prepares' in change))).toBe(true)
  })

  test('it proposes the block of the highest prepared round, unchanged', () => {
    const later = block(2, 1)
    const bench = new CoreBench(0)
    const by = [1, 2, 3]
    bench.hear({ ...proposal(1, 0, B) })
    bench.judge(true)
    bench.hear(roundChange(1, 3), roundChange(2, 3))
    expect(bench.round).toBe(3)
    const effects = bench.hear(roundChange(3, 3, { round: 2, of: later, by }))
    // Its own round change and two empty ones were a quorum already: a fresh block is being built.
    expect(effects).toEqual([])
    const again = new CoreBench(0)
    again.hear(roundChange(1, 3, { round: 0, of: B, by }), roundChange(3, 3, { round: 2, of: later, by }))
    expect(again.effects.at(-1)).toMatchObject({ type: 'broadcast', message: { wanted: later.hash } })
    again.hear({ type: 'body', block: later })
    const sent = again.effects.flatMap(effect =>
      effect.type === 'sign' && effect.message.type === 'proposal' ? [effect.message] : [],
    )
    expect(sent[0]).toMatchObject({ round: 3, block: later })
    expect(sent[0]?.prepares.map(vote => vote.round)).toEqual([2, 2, 2])
  })

  test('a round change with a proof that proves something else is ignored', () => {
    const bench = new CoreBench(0)
    const by = [1, 2, 3]
    const sound = roundChange(1, 4, { round: 1, of: B, by })
    const unsound = [
      { ...sound, prepares: sound.prepares.slice(0, 2) },
      { ...sound, prepares: [sound.prepares[0]!, sound.prepares[0]!, sound.prepares[1]!] },
      { ...sound, prepares: sound.prepares.map(vote => ({ ...vote, round: 0 })) },
      { ...sound, prepares: sound.prepares.map(vote => ({ ...vote, number: 2 })) },
      { ...sound, prepared: { round: 4, blockHash: B.hash } },
      { ...sound, prepared: null },
      { ...sound, prepares: sound.prepares.map((vote, at) => ({ ...vote, sender: at + 2 })) },
    ]
    for (const change of unsound) bench.hear(change)
    expect(bench.state.height!.roundChanges.size).toBe(0)
    bench.hear(sound)
    expect(bench.state.height!.roundChanges.size).toBe(1)
  })

  const by = [0, 1, 3]
  const changes = [roundChange(0, 1, { round: 0, of: B, by }), roundChange(1, 1), roundChange(3, 1)]
  const prepares = by.map(sender => prepare(sender, 0, B))
  const fresh = block(5, 2)
  const unjustified: readonly (readonly [string, ReturnType<typeof proposal>])[] = [
    ['another block than the prepared one', proposal(2, 1, fresh, { roundChanges: changes, prepares })],
    ['no prepares for the prepared block', proposal(2, 1, B, { roundChanges: changes, prepares: [] })],
    [
      'prepares of another round',
      proposal(2, 1, B, { roundChanges: changes, prepares: by.map(sender => prepare(sender, 1, B)) }),
    ],
    [
      'the same prepare three times',
      proposal(2, 1, B, { roundChanges: changes, prepares: [prepares[0]!, prepares[0]!, prepares[0]!] }),
    ],
    ['two round changes', proposal(2, 1, B, { roundChanges: changes.slice(0, 2), prepares })],
    [
      'one round change three times',
      proposal(2, 1, fresh, { roundChanges: [changes[1]!, changes[1]!, changes[1]!], prepares: [] }),
    ],
    [
      'round changes for another round',
      proposal(2, 1, fresh, { roundChanges: [0, 1, 3].map(sender => roundChange(sender, 2)), prepares: [] }),
    ],
    [
      'round changes of another height',
      proposal(2, 1, fresh, { roundChanges: [0, 1, 3].map(sender => roundChange(sender, 1, null, 2)), prepares: [] }),
    ],
    [
      'prepares where nothing was prepared',
      proposal(2, 1, B, { roundChanges: changes.slice(1).concat(roundChange(0, 1)), prepares }),
    ],
    [
      'contradicting round changes',
      proposal(2, 1, B, {
        roundChanges: [changes[0]!, roundChange(1, 1, { round: 0, of: fresh, by }), changes[2]!],
        prepares,
      }),
    ],
  ]
  test.each(unjustified)('a proposal with %s is refused', (_, offered) => {
    const bench = new CoreBench(0)
    bench.hear(offered)
    expect(bench.effects.some(effect => effect.type === 'validate')).toBe(false)
  })

  test('the justified ones are followed into their round', () => {
    for (const offered of [
      proposal(2, 1, B, { roundChanges: changes, prepares }),
      proposal(2, 1, fresh, { roundChanges: [0, 1, 3].map(sender => roundChange(sender, 1)), prepares: [] }),
    ]) {
      const bench = new CoreBench(0)
      bench.hear(offered)
      bench.judge(true)
      expect(bench.round).toBe(1)
      expect(bench.said()).toEqual(['prepare 1'])
    }
  })

  test('a locked member votes for its block again in the next round, and for no other without proof', () => {
    const bench = preparedBench()
    bench.timeout('round')
    const effects = bench.hear(proposal(2, 1, B, { roundChanges: changes, prepares }))
    expect(effects.some(effect => effect.type === 'validate')).toBe(false)
    expect(bench.said()).toEqual(['prepare 0', 'commit 0', 'roundChange 1', 'prepare 1'])
  })
})

describe('neighbours', () => {
  const status = {
    type: 'status',
    number: 1,
    round: 0,
    hasProposal: false,
    prepares: new Uint8Array(1),
    commits: new Uint8Array(1),
    roundChanges: new Uint8Array(1),
    wanted: null,
  } as const

  test('are sent what they lack, and not what they have', () => {
    const bench = preparedBench()
    const kinds = (effects: ReturnType<CoreBench['hear']>) =>
      effects.flatMap(effect => (effect.type === 'send' ? [effect.message.type] : []))
    expect(kinds(bench.hear(status))).toEqual(['prepare', 'commit'])
    expect(kinds(bench.hear({ ...status, prepares: Uint8Array.of(1), commits: Uint8Array.of(1) }))).toEqual([])
    expect(
      kinds(bench.hear({ ...status, wanted: B.hash, prepares: Uint8Array.of(1), commits: Uint8Array.of(1) })),
    ).toEqual(['body'])
    bench.timeout('round')
    expect(kinds(bench.hear(status))).toEqual(['prepare', 'commit', 'roundChange'])
    expect(kinds(bench.hear({ ...status, round: 7 }))).toEqual(['commit'])
  })

  test('that are behind are sent the decision', () => {
    const bench = preparedBench()
    expect(bench.hear({ ...status, number: 0 })).toEqual([{ type: 'sendDecided', to: 'peer', number: 0 }])
    bench.hear(commit(1, 0, B), commit(2, 0, B))
    expect(bench.hear(status)).toMatchObject([{ type: 'send', message: { type: 'decided', block: B } }])
  })

  test('hear every while what this member has', () => {
    const bench = preparedBench()
    const [effect, next] = bench.timeout('retransmit')
    expect(effect).toMatchObject({
      message: { type: 'status', hasProposal: true, prepares: Uint8Array.of(0b0111), commits: Uint8Array.of(0b0001) },
    })
    expect(next).toMatchObject({ type: 'schedule', timer: 'retransmit', atMs: 500 })
  })

  test('a lone validator’s follower requests what it lacks; the validator itself sends no status', () => {
    const timers = (bench: CoreBench) =>
      bench.effects.flatMap(effect => (effect.type === 'schedule' ? [effect.timer] : []))
    const follower = new CoreBench(-1, 1)
    expect(timers(follower)).toContain('retransmit')
    expect(follower.timeout('retransmit')).toContainEqual(
      expect.objectContaining({ type: 'broadcast', message: expect.objectContaining({ type: 'status', number: 1 }) }),
    )
    expect(timers(new CoreBench(0, 1))).not.toContain('retransmit')
  })

  test('that are ahead, more than can be faulty, are asked; their messages wait for their height', () => {
    const bench = new CoreBench(0)
    const next = block(4, 2, { number: 2, parentHash: B.hash })
    bench.hear(proposal(2, 0, next), prepare(2, 0, next, 2))
    expect(bench.effects.some(effect => effect.type === 'behind')).toBe(false)
    bench.hear(prepare(3, 0, next, 2))
    expect(bench.effects.filter(effect => effect.type === 'behind')).toEqual([{ type: 'behind', number: 2 }])
    const { config } = bench.state.height!
    bench.open({ ...config, number: 2, parentHash: B.hash })
    bench.judge(true)
    expect(bench.said()).toEqual(['prepare 0', 'commit 0'])
  })

  test('cannot fill the memory', () => {
    const bench = new CoreBench(0)
    for (let number = 2; number < 2_000; number++) {
      for (let round = 0; round < 20; round++) bench.hear(prepare(3, round, B, number), commit(3, round, B, number))
    }
    for (let round = 0; round < 2_000; round++)
      bench.hear(prepare(3, round, B), commit(3, round, B), roundChange(3, round))
    const { height, future } = bench.state
    expect(future.size).toBeLessThanOrEqual(1_000)
    expect(height!.prepares.size + height!.commits.size + height!.roundChanges.size).toBeLessThan(30)
  })
})

describe('instant mode', () => {
  test('waits for a request, then runs like any other height', () => {
    const bench = new CoreBench(1, 4, { earliestMs: null })
    expect(bench.effects.filter(effect => effect.type === 'schedule' && effect.timer !== 'retransmit')).toEqual([])
    const effects = bench.feed({ type: 'request', nowMs: 7_000 })
    expect(effects.map(effect => effect.type)).toEqual(['schedule', 'build'])
    expect(bench.feed({ type: 'request', nowMs: 7_001 })).toEqual([])
  })

  test('a proposal starts the round timer of those who had no request', () => {
    const bench = new CoreBench(0, 4, { earliestMs: null })
    bench.nowMs = 500
    const effects = bench.hear(proposal(1, 0, B))
    expect(effects).toContainEqual({ type: 'schedule', timer: 'round', number: 1, round: 0, atMs: 1_500 })
  })
})

describe('after a restart', () => {
  const records = (bench: CoreBench) =>
    bench.effects.flatMap(effect => (effect.type === 'persist' ? [effect.record] : []))

  test('every beginning of a log leads on without asking for a vote twice or for another one', () => {
    const first = preparedBench()
    first.timeout('round')
    first.hear(roundChange(1, 1), roundChange(2, 1))
    const log = records(first)
    expect(log.length).toBeGreaterThan(6)
    for (let kept = 0; kept <= log.length; kept++) {
      const prefix = log.slice(0, kept)
      const bench = new CoreBench(0, 4, { records: prefix })
      const signedBefore = prefix.flatMap(record =>
        record.type === 'signed' ? [`${record.vote.type} ${record.vote.round}`] : [],
      )
      const asked = bench.effects.flatMap(effect =>
        effect.type === 'sign' ? [`${effect.message.type} ${effect.message.round}`] : [],
      )
      expect(asked.filter(vote => signedBefore.includes(vote))).toEqual([])
      expect(bench.said().slice(0, signedBefore.length).toSorted()).toEqual(signedBefore.toSorted())
    }
  })

  test('a body that a shortened log left out is logged again when it is needed again', () => {
    const other = block(2, 2)
    const bench = new CoreBench(0)
    const bodies = (effects: readonly Effect[]) =>
      effects.flatMap(effect =>
        effect.type === 'persist' && effect.record.type === 'block' ? [effect.record.block] : [],
      )
    bench.hear(proposal(1, 0, B))
    expect(bodies(bench.judge(true))).toEqual([B])
    const changes = [1, 2, 3].map(sender => roundChange(sender, 1))
    bench.hear(...changes, proposal(2, 1, other, justificationFromRoundChanges(changes)))
    expect(bodies(bench.judge(true))).toEqual([other])
    const kept = walCheckpoint(bench.state.height!)
    expect(kept.flatMap(record => (record.type === 'block' ? [record.block] : []))).toEqual([other])
    // The others had prepared the first one.
    const back = [1, 2, 3].map(sender => roundChange(sender, 2, { round: 0, of: B, by: [1, 2, 3] }))
    const effects = bench.hear(...back, proposal(3, 2, B, justificationFromRoundChanges(back)))
    expect(bench.said(effects)).toContain('prepare 2')
    expect(bodies(effects)).toEqual([B])
  })

  test('a lone member offers the block it had signed, and builds no other', () => {
    const first = new CoreBench(0, 1)
    first.timeout('propose')
    first.feed({ type: 'built', number: 1, round: 0, block: block(7, 0), nowMs: 5 })
    const log = records(first)
    const cut = log.findIndex(record => record.type === 'proposal') + 1
    const bench = new CoreBench(0, 1, { records: log.slice(0, cut) })
    bench.timeout('propose')
    expect(bench.effects.some(effect => effect.type === 'build')).toBe(false)
    bench.judge(true)
    expect(bench.decided()?.block.hash).toBe(block(7, 0).hash)
  })
})

test('an own height comes once', () => {
  const bench = new CoreBench(0)
  const { config } = bench.state.height!
  expect(() => bench.open({ ...config, parentHash: PARENT })).toThrow('heights open in order')
})
