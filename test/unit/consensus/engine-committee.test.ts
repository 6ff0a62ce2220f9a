import type { Hex } from '@tandem/base/bytes.ts'
import { type Logger, silentLogger } from '@tandem/base/logger.ts'
import { createRandom } from '@tandem/base/random.ts'
import { describe, expect, test } from 'vitest'
import { certificateFault } from '../../../src/consensus/certificate.ts'
import { proposerOf } from '../../../src/consensus/committee.ts'
import { type Head, nullNetwork } from '../../../src/consensus/ports.ts'
import { recoverAddress, sign } from '../../../src/crypto/signature.ts'
import type { Block } from '../../../src/primitives/block.ts'
import { readExtraData } from '../../../src/primitives/consensus/extra-data.ts'
import type { ConsensusMessage } from '../../../src/primitives/consensus/message.ts'
import { proposalDigest } from '../../../src/primitives/consensus/proposal.ts'
import { blockVoteDigest } from '../../../src/primitives/consensus/vote.ts'
import { blockCodec, Ledger, makeBlock } from '../../support/consensus/ledger.ts'
import { ManualClock, settle } from '../../support/consensus/manual-clock.ts'
import { committeeOf, createMember, DOMAIN, keyOf } from '../../support/consensus/member.ts'
import { MemoryFiles } from '../../support/consensus/memory-files.ts'
import { committee, hashes, heights, portsOf } from './group.ts'

describe('committees of real engines', () => {
  test.each([2, 3, 4, 7])('%i members seal a block a second in turn, all with sound certificates', async size => {
    const { clock, members, stop } = await committee(size)
    await clock.advance(2 * size * 1_000)
    const expected = hashes(members[0]!)
    expect(expected.length).toBeGreaterThanOrEqual(2 * size)
    for (const member of members) {
      expect(hashes(member)).toEqual(expected)
      expect(member.errors).toEqual([])
      expect(member.engine.status()).toMatchObject({
        mode: 'voting',
        rejectedMessages: 0,
        evidence: 0,
        roundChanges: 0,
      })
      for (const { block, certificate } of member.ledger.blocks) {
        const sealed = { number: block.header.number, blockHash: block.hash }
        expect(certificateFault(certificate, sealed, committeeOf(size), DOMAIN, recoverAddress)).toBeNull()
      }
    }
    await stop()
  })

  test('four go on without one, change the round at its turn, and it catches up', async () => {
    const { clock, members, revive, stop } = await committee(4)
    await clock.advance(3_000)
    await members[2]!.engine.stop()
    const before = heights(members)[0]!
    await clock.advance(20_000)
    expect(heights(members)[0]!).toBeGreaterThan(before + 10)
    expect(members[0]!.engine.status().decidedLate).toBeGreaterThan(0)
    await revive(2)
    await clock.advance(2_500)
    expect(hashes(members[2]!)).toEqual(hashes(members[0]!))
    expect(members[2]!.engine.status().mode).toBe('voting')
    await stop()
  })

  test('a member that learns many heights at once is not ahead of its time: it proposes at its next turn', async () => {
    const { clock, members, revive, stop } = await committee(4, 250)
    await members[2]!.engine.stop()
    await clock.advance(20_000)
    expect(heights(members)[0]!).toBeGreaterThan(30)
    await revive(2)
    await clock.advance(1_000)
    expect(hashes(members[2]!)).toEqual(hashes(members[0]!))
    const before = heights(members)[0]!
    await clock.advance(2_000)
    expect(heights(members)).toEqual([before + 8, before + 8, before + 8, before + 8])
    expect(members[0]!.ledger.blocks.slice(before).map(({ certificate }) => certificate.round)).toEqual(
      new Array(8).fill(0),
    )
    await stop()
  })

  test('two of four are no quorum: nothing is decided, and all goes on when a third is back', async () => {
    const { clock, members, revive, stop } = await committee(4)
    await clock.advance(2_000)
    await members[0]!.engine.stop()
    await members[1]!.engine.stop()
    await clock.advance(2_000)
    const before = heights(members)[3]!
    await clock.advance(20_000)
    expect(heights(members)[3]!).toBe(before)
    await revive(0)
    await clock.advance(40_000)
    expect(heights(members)[3]!).toBeGreaterThan(before)
    await stop()
  })

  test('a member that reaches too few for a quorum names them each minute, as its status does, and a follower says nothing', async () => {
    const warned: unknown[] = []
    const logger: Logger = { ...silentLogger, warn: (fields, message) => void warned.push([message, fields]) }
    const clock = new ManualClock()
    const missing = committeeOf(4).members.filter((_, index) => index > 1)
    const network = { ...nullNetwork, reachable: () => 1, unreachable: () => missing }
    const parts = { index: 1, size: 4, clock, files: new MemoryFiles(), ledger: new Ledger(), network }
    const { engine } = await createMember({ ...parts, overrides: { logger } })
    await engine.start()
    expect(engine.status().missing, 'before the first block is due').toEqual([])
    await clock.advance(30_000)
    expect(engine.status()).toMatchObject({ number: 1, round: 0, missing })
    const message = 'no quorum reachable, waiting for committee members'
    expect(warned).toEqual([[message, { number: 1, round: 0, missing, seconds: expect.any(Number) }]])
    await clock.advance(180_000)
    await engine.stop()
    expect(warned.length, 'in three and a half minutes').toBe(4)
    expect(warned.every(line => (line as unknown[])[0] === message)).toBe(true)

    const follower = { ...parts, files: new MemoryFiles(), overrides: { logger, signer: null } }
    const { engine: following } = await createMember(follower)
    await following.start()
    await clock.advance(30_000)
    await following.stop()
    expect(warned.length).toBe(4)
  })

  test('a key that moved with its watermark follows without an error, then votes', async () => {
    const { clock, members, revive, stop } = await committee(4)
    await clock.advance(5_000)
    const moved = members[2]!
    await moved.engine.stop()
    const watermark = moved.files.content('watermark')
    const files = new MemoryFiles()
    files.put('watermark', watermark as Uint8Array)
    members[2] = { ...moved, files, ledger: new Ledger() }
    const lines: string[] = []
    const keep = (level: string) => (_: object, message: string) => void lines.push(`${level} ${message}`)
    await revive(2, { logger: { ...silentLogger, error: keep('error'), warn: keep('warn'), info: keep('info') } })
    await clock.advance(20_000)
    expect(lines.filter(line => !line.startsWith('info'))).toEqual([])
    expect(lines[0]).toMatch(/^info this key signed on another node: following only/)
    expect(lines.some(line => line.includes('voting again'))).toBe(true)
    expect(members[2]!.engine.status().mode).toBe('voting')
    await stop()
  })

  test('a stall is reported with the proposer of each round given up, and its end with the seconds it took', async () => {
    const { clock, members, revive, stop } = await committee(4)
    await clock.advance(3_000)
    await members[2]!.engine.stop()
    await members[3]!.engine.stop()
    const lines: [string, Record<string, unknown>][] = []
    const keep = (fields: object, message: string) => void lines.push([message, fields as Record<string, unknown>])
    await members[1]!.engine.stop()
    const logger: Logger = { ...silentLogger, info: keep, warn: keep }
    await revive(1, { logger })
    await clock.advance(120_000)
    const changes = lines.filter(([message]) => message.startsWith('round change'))
    expect(changes.length).toBeGreaterThan(0)
    for (const [, { number, round, proposer, reached }] of changes) {
      expect(reached).toMatch(/^(no proposal|\d of 3 prepares)$/)
      expect(proposer).toBe(proposerOf(committeeOf(4), number as number, (round as number) - 1))
    }
    const stalled = members[1]!.engine.status()
    const last = lines.findLast(([, fields]) => 'missing' in fields)?.[1]
    expect(last?.['missing'], 'the log agrees with the metric').toEqual(stalled.missing)
    await revive(2)
    await clock.advance(120_000)
    const [again] = lines.filter(([message]) => message.startsWith('deciding again'))
    expect(again).toEqual([expect.stringMatching(/^deciding again after \d+ s$/), { number: stalled.number }])
    await stop()
  })

  test('instant mode: a request at any member makes a block', async () => {
    const { clock, members, stop } = await committee(4, 0)
    await clock.advance(10_000)
    expect(heights(members)).toEqual([0, 0, 0, 0])
    for (const { engine } of members) engine.requestBlock()
    await clock.advance(100)
    expect(heights(members)).toEqual([1, 1, 1, 1])
    // Only a member whose turn it is not knows of this one.
    members[0]!.engine.requestBlock()
    await clock.advance(30_000)
    await stop()
  })

  test('messages that are unsigned, of another chain, or of a non-member are rejected', async () => {
    const { clock, mesh, members, stop } = await committee(4)
    await clock.advance(2_500)
    const { number, hash } = members[0]!.ledger.head()
    const vote = { type: 'prepare', number: number + 1, round: 0, blockHash: hash } as const
    const forged: ConsensusMessage[] = [
      { ...vote, sender: 1, signature: new Uint8Array(65) },
      { ...vote, sender: 1, signature: sign(blockVoteDigest(DOMAIN, vote), keyOf(2)) },
      { ...vote, sender: 1, signature: sign(blockVoteDigest({ ...DOMAIN, chainId: 1 }, vote), keyOf(1)) },
      { ...vote, sender: 9, signature: sign(blockVoteDigest(DOMAIN, vote), keyOf(9)) },
      // Out of reach: not even looked at.
      { ...vote, sender: 1, number: number + 100, signature: sign(blockVoteDigest(DOMAIN, vote), keyOf(1)) },
    ]
    const port = mesh.port(1)
    for (const message of forged) port.send('0', message)
    await clock.advance(100)
    expect(members[0]!.engine.status().rejectedMessages).toBe(forged.length - 1)
    await stop()
  })

  test('the sender of an unsigned message is reported to the network', async () => {
    const { clock, mesh, members, revive, stop } = await committee(4)
    await clock.advance(2_500)
    await members[0]!.engine.stop()
    const reported: string[] = []
    const { ledger } = members[0]!
    const network = { ...mesh.port(0), misbehaved: (peer: string) => reported.push(peer) }
    await revive(0, { ports: { ...portsOf(ledger, 4), network, blocks: blockCodec } })
    await clock.advance(2_000)
    expect(reported).toEqual([])
    const vote = { type: 'prepare', number: ledger.head().number + 1, round: 0, blockHash: ledger.head().hash } as const
    mesh.port(3).send('0', { ...vote, sender: 1, signature: new Uint8Array(65) })
    await settle()
    expect(reported).toEqual(['3'])
    await stop()
  })

  test('an engine that is given up from outside says why once, and signs nothing any more', async () => {
    const { clock, mesh, members, stop } = await committee(4)
    await clock.advance(2_500)
    const reason = new Error('another node holds the key')
    members[2]!.engine.giveUp(reason)
    members[2]!.engine.giveUp(new Error('again'))
    const said: number[] = []
    mesh.onSaid = from => void said.push(from)
    await clock.advance(5_000)
    expect(members[2]!.errors).toEqual([reason])
    expect(members[2]!.engine.status().mode).toBe('failed')
    expect(said).not.toContain(2)
    expect(said).toContain(1)
    await stop()
  })

  test('a committee whose messages take their time keeps the second, without drift', async () => {
    const { clock, mesh, members, stop } = await committee(4)
    const random = createRandom(5)
    mesh.later = deliver => void clock.schedule(clock.nowMs() + 10 + random.below(120), deliver)
    await clock.advance(60_900)
    const { blocks } = members[0]!.ledger
    expect(blocks).toHaveLength(61)
    const times = blocks.map(({ block }) => block.header.timestamp)
    expect(times).toEqual(times.map((_, at) => times[0]! + at))
    for (const { engine } of members) expect(engine.status().roundChanges).toBe(0)
    await stop()
  })

  test('a body that does not match its header is charged only to its sender', async () => {
    const { clock, mesh, members, stop } = await committee(4)
    await clock.advance(2_500)
    const tampered = (block: Block): Block => ({ ...block, proofHeaders: [Uint8Array.of(1)] })
    const said: string[] = []
    // Member 3 hears every block through somebody who puts another body under it, before it hears the proposer.
    mesh.passes = (from, to, message) => {
      if (message.type !== 'proposal' || to !== 3 || from === 0) return true
      mesh.port(0).send('3', { ...message, block: tampered(message.block) })
      return true
    }
    mesh.onSaid = (from, message) => {
      if (from === 3 && 'signature' in message) said.push(message.type)
    }
    await clock.advance(6_000)
    const status = members[3]!.engine.status()
    expect(status).toMatchObject({ mode: 'voting', roundChanges: 0, evidence: 0 })
    expect(status.rejectedMessages).toBeGreaterThan(2)
    expect(said).toContain('prepare')
    expect(said).not.toContain('roundChange')
    await stop()
  })

  test('a decision with another body is not taken', async () => {
    const { clock, mesh, members, revive, stop } = await committee(4)
    await clock.advance(2_500)
    await members[3]!.engine.stop()
    await clock.advance(3_000)
    mesh.passes = (_, to, message) => to !== 3 || message.type === 'status'
    await revive(3)
    const port = mesh.port(0)
    const next = members[3]!.ledger.blocks.length
    const { block, certificate } = members[0]!.ledger.blocks[next]!
    mesh.passes = (_, to, message) => to !== 3 || message.type === 'status' || message.type === 'decided'
    mesh.onSaid = () => {}
    const decided = { type: 'decided', block, certificate } as const
    port.send('3', { ...decided, block: { ...block, evidence: [Uint8Array.of(1)] } })
    await settle()
    expect(members[3]!.engine.status().rejectedMessages).toBe(1)
    expect(members[3]!.errors).toEqual([])
    await stop()
  })

  test('two votes for one round are reported with all that proves it, even those of the height before', async () => {
    const { clock, mesh, members, stop } = await committee(4)
    await clock.advance(2_500)
    const head = members[0]!.ledger.head()
    const other: Hex = `0x${'77'.repeat(32)}`
    const second = { type: 'commit', number: head.number, round: 0, blockHash: other } as const
    mesh.port(3).send('0', { ...second, sender: 3, signature: sign(blockVoteDigest(DOMAIN, second), keyOf(3)) })
    await settle()
    expect(members[0]!.engine.status()).toMatchObject({ mode: 'voting', evidence: 1 })
    await stop()
  })

  /** The next proposer offers a block of its own making to its neighbour alone; what that neighbour says meanwhile. */
  const offer = async (
    { clock, mesh, members }: Awaited<ReturnType<typeof committee>>,
    make: (head: Head, proposer: Hex) => Block,
    waitMs: number,
  ) => {
    const head = members[0]!.ledger.head()
    const proposer = (head.number + 1) % 4
    const victim = (proposer + 1) % 4
    const block = make(head, committeeOf(4).members[proposer]!)
    const unsigned = {
      type: 'proposal',
      number: head.number + 1,
      round: 0,
      block,
      roundChanges: [],
      prepares: [],
    } as const
    const signature = sign(proposalDigest(DOMAIN, { ...unsigned, blockHash: block.hash }), keyOf(proposer))
    const said: string[] = []
    mesh.onSaid = (from, message) => {
      if (from === victim && 'signature' in message) said.push(`${message.type} ${message.round}`)
    }
    mesh.passes = (_, to, message) => to === victim && message.type === 'proposal' && message.block === block
    mesh.port(proposer).send(String(victim), { ...unsigned, sender: proposer, signature })
    await clock.advance(waitMs)
    return said
  }

  test('a block whose certificate of the parent is forged gets no vote', async () => {
    const group = await committee(4)
    await group.clock.advance(1_500)
    const forged = (head: Head, proposer: Hex) => {
      const place = { number: head.number + 1, parentHash: head.hash, timestamp: head.timestamp + 1 }
      return makeBlock(place, proposer, { ...head.certificate!, round: 5 }, 99)
    }
    expect(await offer(group, forged, 1)).toEqual(['roundChange 1'])
    await group.stop()
  })

  test('a block a little early is voted for when its second has come, one far ahead of time never', async () => {
    for (const [aheadS, waitMs, expected] of [
      [1, 400, []],
      [1, 600, ['prepare 0']],
      [3, 600, []],
    ] as const) {
      const group = await committee(4)
      // The head carries the second that is half over.
      await group.clock.advance(2_500)
      const early = (head: Head, proposer: Hex) =>
        makeBlock(
          { number: head.number + 1, parentHash: head.hash, timestamp: head.timestamp + aheadS },
          proposer,
          head.certificate,
          99,
        )
      expect(await offer(group, early, waitMs), `${aheadS} s ahead, after ${waitMs} ms`).toEqual(expected)
      await group.stop()
    }
  })

  test('a stop ends the wait of a block that is a little early, which is judged no more', async () => {
    const group = await committee(4)
    await group.clock.advance(2_500)
    const validated = () => group.members.map(({ ledger }) => ledger.validated)
    const early = (head: Head, proposer: Hex) =>
      makeBlock(
        { number: head.number + 1, parentHash: head.hash, timestamp: head.timestamp + 1 },
        proposer,
        head.certificate,
        99,
      )
    await offer(group, early, 0)
    const before = validated()
    await group.stop()
    await group.clock.advance(5_000)
    expect(validated()).toEqual(before)
  })
})

describe('a proposal that takes longer than its round', () => {
  /** Blocks of one member are never done with; the rest are as usual. */
  const withEndless = async (index: number) => {
    const group = await committee(4)
    const cancelled: number[] = []
    const liar = committeeOf(4).members[index]
    for (const [at, { ledger }] of group.members.entries()) {
      const validate = ledger.validate.bind(ledger)
      ledger.validate = (block, context, signal) => {
        if (readExtraData(block.header)?.proposer !== liar) return validate(block, context, signal)
        return new Promise(resolve =>
          signal?.addEventListener('abort', () => {
            cancelled.push(at)
            resolve({ valid: false, proven: false, reason: 'cancelled' })
          }),
        )
      }
    }
    return { group, cancelled }
  }

  test('is left with it: the next proposer’s block is decided by all, and no member is blamed', async () => {
    const { group, cancelled } = await withEndless(2)
    await group.clock.advance(40_000)
    const [first] = group.members.map(hashes)
    expect(first?.length).toBeGreaterThan(25)
    for (const member of group.members) {
      expect(hashes(member)).toEqual(first)
      expect(member.errors).toEqual([])
      expect(member.engine.status()).toMatchObject({ mode: 'voting', evidence: 0 })
    }
    // By each of the three others at each turn of that member.
    expect(cancelled.length).toBeGreaterThan(3 * 5)
    expect(cancelled.filter(at => at === 2)).toEqual([])
    await group.stop()
  })

  test('holds up no stop', async () => {
    const { group } = await withEndless(1)
    await group.clock.advance(1_500)
    await group.stop()
    expect(group.members.flatMap(({ errors }) => errors)).toEqual([])
  })
})

describe('a stop in a committee', () => {
  test('waits for the proposal that is being judged: what it stands on may be closed afterwards', async () => {
    const group = await committee(4)
    await group.clock.advance(1_500)
    const gate = Promise.withResolvers<void>()
    for (const { ledger } of group.members) {
      const validate = ledger.validate.bind(ledger)
      ledger.validate = async block => {
        await gate.promise
        return validate(block)
      }
    }
    await group.clock.advance(1_000)
    let stopped = 0
    const stopping = group.members.map(({ engine }) =>
      engine.stop().then(() => {
        stopped++
      }),
    )
    await settle()
    // The proposer has nothing to judge.
    expect(stopped).toBe(1)
    gate.resolve()
    await Promise.all(stopping)
    expect(group.members.flatMap(({ errors }) => errors)).toEqual([])
  })
})
