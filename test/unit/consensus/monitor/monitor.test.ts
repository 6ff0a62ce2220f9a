import { type Hex, ZERO_HASH } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { describe, expect, test } from 'vitest'
import type { Effect } from '../../../../src/consensus/core/types.ts'
import type { ConsensusMetrics } from '../../../../src/consensus/monitor/metrics.ts'
import { ClockSkew, ConsensusMonitor } from '../../../../src/consensus/monitor/monitor.ts'
import { timedFileSystem } from '../../../../src/consensus/wal/file-system.ts'
import { encodeExtraData } from '../../../../src/primitives/consensus/extra-data.ts'

const MEMBERS = ['0xa', '0xb', '0xc', '0xd'].map(name => name.padEnd(42, '0') as Hex)
const [A, B, C, D] = MEMBERS as [Hex, Hex, Hex, Hex]

describe('clocks', () => {
  const skewOf = (offsets: Readonly<Record<Hex, readonly number[]>>): number | null => {
    const skew = new ClockSkew()
    // Each is heard often enough, by the same offsets again.
    for (const [proposer, all] of Object.entries(offsets))
      for (let i = 0; i < 6; i++) skew.heard(proposer as Hex, all[i % all.length] as number)
    return skew.ms
  }

  test.each<[string, Readonly<Record<Hex, readonly number[]>>, number | null]>([
    ['nobody', {}, null],
    ['one other is no witness', { [A]: [5_000] }, null],
    ['a slow proposal is no skew', { [A]: [12, 900, 640], [B]: [8, 700] }, 8],
    ['one wrong clock is not ours', { [A]: [4], [B]: [9], [C]: [-3_000] }, 4],
    ['of two, the one who agrees is believed', { [A]: [400], [B]: [-20] }, -20],
    ['all others are late: we are ahead', { [A]: [310], [B]: [340], [C]: [320] }, 320],
    ['all others are early: we are behind', { [A]: [-310], [B]: [-290], [C]: [-320] }, -310],
  ])('%s', (_what, offsets, ms) => expect(skewOf(offsets)).toBe(ms))

  test('only the last ones of a proposer count, and the longest silent is forgotten', () => {
    const skew = new ClockSkew()
    for (let i = 0; i < 4; i++) skew.heard(B, 1_000)
    for (let i = 0; i < 9; i++) skew.heard(A, i === 0 ? 1 : 500)
    expect(skew.ms).toBe(500)
    for (let i = 0; i < 1_000; i++) skew.heard(`0x${(i >> 2).toString(16).padStart(40, '0')}`, 7)
    expect(skew.ms).toBe(7)
  })
})

const watching = (blockTimeMs = 1_000) => {
  const seen: (readonly [string, ...unknown[]])[] = []
  const warnings: unknown[] = []
  const metrics: ConsensusMetrics = {
    prepared: seconds => seen.push(['prepared', seconds]),
    committed: seconds => seen.push(['committed', seconds]),
    voted: (validator, type) => seen.push(['voted', validator, type]),
    synced: (file, seconds) => seen.push(['synced', file, seconds]),
    skewed: seconds => seen.push(['skewed', seconds]),
  }
  const logger = { ...silentLogger, warn: (fields: unknown) => void warnings.push(fields) }
  return { monitor: new ConsensusMonitor({ blockTimeMs, self: D, logger, metrics }), seen, warnings }
}

const proposal = (proposer: Hex, timestamp: number, round = 0): Effect => {
  const extraData = encodeExtraData({
    version: 1,
    vanity: new Uint8Array(0),
    proposer,
    parentCertificate: null,
    proofTip: ZERO_HASH,
    proofHeadersHash: ZERO_HASH,
    evidenceRoot: ZERO_HASH,
  })
  const block = { header: { extraData, timestamp }, hash: '0x01' }
  return { type: 'validate', block: block as never, number: 9, round, fresh: round === 0 }
}
const PREPARED: Effect = { type: 'persist', record: { type: 'prepared', number: 9, certificate: {} as never } }
const DECIDED: Effect = { type: 'decide', block: {} as never, certificate: {} as never }

test('the phases of a height are timed from its proposal, and nothing is carried over into the next', () => {
  const { monitor, seen } = watching(500)
  monitor.heightChanged()
  monitor.onEffect({ type: 'build', number: 9, round: 0 }, 1_000)
  monitor.onEffect(PREPARED, 1_008)
  monitor.onEffect(DECIDED, 1_013)
  expect(seen).toEqual([
    ['prepared', 0.008],
    ['committed', 0.005],
  ])
  monitor.heightChanged()
  monitor.onEffect(DECIDED, 2_000)
  expect(seen.length).toBe(2)
})

test('a vote counts once, however often it is received, and own votes do not count', () => {
  const { monitor, seen } = watching()
  const committee = { members: MEMBERS } as never
  const prepare = (sender: number, number: number, round: number) =>
    monitor.onMessage(
      { type: 'prepare', sender, number, round, blockHash: '0x01', signature: new Uint8Array() },
      committee,
    )
  prepare(0, 9, 0)
  prepare(0, 9, 0)
  prepare(0, 9, 1)
  prepare(0, 8, 4)
  prepare(3, 9, 0)
  prepare(17, 9, 0)
  monitor.onMessage(
    { type: 'commit', sender: 0, number: 9, round: 0, blockHash: '0x01', signature: new Uint8Array() },
    committee,
  )
  expect(seen).toEqual([
    ['voted', A, 'prepare'],
    ['voted', A, 'prepare'],
    ['voted', A, 'commit'],
  ])
})

test('a wrong clock is reported once, and again only after it was right', () => {
  const { monitor, seen, warnings } = watching()
  const both = (at: number, aheadMs: number) => {
    monitor.onEffect(proposal(A, at), at * 1_000 + aheadMs)
    monitor.onEffect(proposal(B, at), at * 1_000 + aheadMs)
  }
  for (let at = 90; at < 93; at++) both(at, 300)
  expect(warnings, 'the first few may be slow for any reason').toEqual([])
  both(93, 300)
  both(94, 300)
  expect(warnings).toEqual([{ aheadMs: 300 }])
  both(102, 5)
  expect(seen.at(-1)).toEqual(['skewed', 0.005])
  for (let at = 103; at < 115; at++) both(at, 800)
  expect(warnings).toEqual([{ aheadMs: 300 }, { aheadMs: 800 }])
})

test('own proposals, later rounds and block times that no second begins with tell nothing of clocks', () => {
  const { monitor, seen } = watching()
  const fast = watching(250)
  for (let i = 0; i < 8; i++) {
    for (const proposer of [A, B]) monitor.onEffect(proposal(proposer, 100, 1), 103_000)
    for (const proposer of [C, D]) monitor.onEffect(proposal(proposer, 100), 103_000)
    for (const proposer of [A, B]) fast.monitor.onEffect(proposal(proposer, 100), 103_000)
  }
  expect(seen).toEqual([])
  expect(fast.seen).toEqual([])
})

test('each sync of a file is timed, and everything else goes through', async () => {
  const done: unknown[] = []
  const files = timedFileSystem(
    {
      read: async path => new TextEncoder().encode(path),
      open: async () => ({
        write: (bytes, position) => void done.push(['write', bytes.length, position]),
        sync: async () => void done.push('sync'),
        close: async () => void done.push('close'),
      }),
      replace: async path => void done.push(['replace', path]),
    },
    seconds => done.push(seconds >= 0 && seconds < 10),
  )
  expect(await files.read('x')).toEqual(new Uint8Array([120]))
  const file = await files.open('x')
  file.write(new Uint8Array(3), 7)
  await file.sync()
  await file.close()
  await files.replace('y', new Uint8Array())
  expect(done).toEqual([['write', 3, 7], 'sync', true, 'close', ['replace', 'y']])
})
