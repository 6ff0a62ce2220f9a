import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ForkDetector } from '../../../../../src/cli/localnet/network.ts'
import { tailOf } from '../../../../../src/cli/localnet/node-process.ts'
import { eventText, type LocalnetEvent } from '../../../../../src/cli/localnet/report/events.ts'
import {
  type NodeObservation,
  type NodeStatus,
  statusesFromObservations,
  statusLine,
  statusTable,
} from '../../../../../src/cli/localnet/report/status.ts'
import { jsonReporter, plainReporter, terminalReporter } from '../../../../../src/cli/localnet/run.ts'

const glimpse = (name: string, number: number | undefined, more: Partial<NodeObservation> = {}): NodeObservation => ({
  name,
  isValidator: name.startsWith('v'),
  process: 'running',
  answers: true,
  health:
    number === undefined
      ? undefined
      : {
          number,
          hash: `0x${number}`,
          syncing: false,
          mode: name.startsWith('v') ? 'voting' : 'following',
          round: 0,
          peers: 4,
        },
  ...more,
})

const NODES = statusesFromObservations([
  glimpse('validator-1', 1234),
  glimpse('validator-2', 1234, {
    health: { number: 1234, hash: '0x1', syncing: false, mode: 'quarantined', round: 3, peers: 2 },
  }),
  glimpse('validator-3', 1200, { process: 'paused' }),
  glimpse('validator-4', undefined, { process: 'starting' }),
  glimpse('full-1', 1100, {
    health: { number: 1100, hash: '0x1', syncing: true, mode: 'following', round: 0, peers: 4 },
  }),
  glimpse('full-2', 1233, { answers: false }),
])

describe('one line for each node', () => {
  test('on a terminal', () => {
    expect(statusTable(NODES, 100).join('\n')).toBe(
      `
node          role      state          height round peers   lag
validator-1   validator voting           1234     0     4     0
validator-2   validator quarantined      1234     3     2     0
validator-3   validator paused           1200     -     -    34
validator-4   validator starting            -     -     -  1234
full-1        full      syncing          1100     0     4   134
full-2        full      silent           1233     -     -     1
`.trim(),
    )
  })

  test('no line is longer than the terminal is wide', () => {
    expect(statusTable(NODES, 20)[1]).toBe('validator-1   valida')
  })

  test('all in one line for a log', () => {
    expect(statusLine(NODES)).toBe(
      'height 1234, round 3: validator-1 voting 4 peers; validator-2 quarantined 2 peers; validator-3 paused lag 34; ' +
        'validator-4 starting lag 1234; full-1 syncing 4 peers lag 134; full-2 silent lag 1',
    )
  })
})

const EVENTS: readonly LocalnetEvent[] = [
  { event: 'chaos', wave: 3, action: 'pause', node: 'validator-2', forMs: 1_500 },
  { event: 'chaos', wave: 3, action: 'kill', node: 'validator-2', forMs: 0 },
  { event: 'chaos', wave: 3, action: 'restart', node: 'full-1', forMs: 20 },
  { event: 'resumed', node: 'validator-2' },
  { event: 'started', node: 'full-1', pid: 99 },
  { event: 'recovered', wave: 3, number: 40, ms: 2_340 },
  { event: 'unrecovered', wave: 4, nodes: ['validator-1', 'full-1'], ms: 60_010 },
  { event: 'slow', seconds: 60, quarantined: [] },
  { event: 'slow', seconds: 9, quarantined: ['validator-2', 'validator-3'] },
  { event: 'died', node: 'validator-1', code: 1, signal: null, log: '/net/validator-1/node.log', lines: ['a', 'b'] },
  { event: 'died', node: 'validator-1', code: null, signal: 'SIGSEGV', log: '/net/x.log', lines: [] },
  {
    event: 'fork',
    number: 7,
    hashes: [
      { node: 'validator-1', hash: '0xaa' },
      { node: 'full-1', hash: '0xbb' },
    ],
  },
  { event: 'reached', number: 200, hash: '0xcc' },
  { event: 'stopping' },
  { event: 'stopped', killed: ['full-1'] },
  { event: 'stopped', killed: [] },
  { event: 'status', nodes: NODES },
]

test('what happens, in words', () => {
  expect(EVENTS.flatMap(event => eventText(event) ?? []).join('\n')).toBe(
    `
chaos 3: pausing validator-2 for 1.5 s
chaos 3: killing validator-2 for 0.0 s
chaos 3: stopping full-1 for 0.0 s
validator-2 goes on
full-1 is back (process 99)
chaos 3: all nodes in step at block 40, 2.3 s after the last came back
chaos 4: not in step after 60.0 s: validator-1, full-1
No block after 60 s: still waiting. See the logs of the nodes.
No block after 9 s: validator-2, validator-3 lost the logs of what they signed and sign nothing until the others
have decided later blocks, for which the others are too few. If nothing else signs with their keys, stop the
network and start it once with --trust-missing-log.
validator-1 ended with status 1. Its log, /net/validator-1/node.log, ends:
  a
  b
validator-1 ended by SIGSEGV. Its log, /net/x.log, ends:
  (it wrote nothing)
FORK at block 7: nodes have different blocks.
  validator-1  0xaa
  full-1  0xbb
All nodes have block 200, 0xcc
Stopping ...
Had to be killed: full-1
`.trim(),
  )
})

describe('reporters', () => {
  const written = () => {
    const parts: string[] = []
    return { parts, output: { columns: 200, write: (text: string) => parts.push(text) } }
  }

  test('on a terminal the table is drawn in its place, and events stay above it', () => {
    const { parts, output } = written()
    const reporter = terminalReporter(output)
    reporter.ready('hello')
    reporter.status(NODES.slice(0, 1))
    reporter.tell({ event: 'resumed', node: 'full-1' })
    reporter.status(NODES.slice(0, 1))
    reporter.tell({ event: 'stopped', killed: ['full-1'] })
    const table = `${statusTable(NODES.slice(0, 1), 199).join('\n')}\n`
    expect(parts).toEqual([
      'hello\n',
      table,
      `\x1b[2A\x1b[Jfull-1 goes on\n${table}`,
      `\x1b[2A\x1b[J${table}`,
      '\x1b[2A\x1b[JHad to be killed: full-1\n',
    ])
  })

  test('without one a line of status comes now and then, an event at once', () => {
    let nowMs = 0
    const { parts, output } = written()
    const reporter = plainReporter(output, () => nowMs)
    for (nowMs = 0; nowMs < 25_000; nowMs += 500) reporter.status(NODES)
    reporter.tell({ event: 'stopping' })
    expect(parts).toEqual([...Array.from({ length: 3 }, () => `${statusLine(NODES)}\n`), 'Stopping ...\n'])
  })

  test('for machines each is an object on a line', () => {
    const { parts, output } = written()
    const reporter = jsonReporter(output, () => 0)
    reporter.ready('{"ready":true}')
    reporter.status(NODES)
    reporter.status(NODES)
    for (const event of EVENTS) reporter.tell(event)
    expect(parts.every(part => part.endsWith('\n') && part.indexOf('\n') === part.length - 1)).toBe(true)
    expect(parts.map(part => JSON.parse(part))).toEqual([{ ready: true }, { event: 'status', nodes: NODES }, ...EVENTS])
  })
})

describe('agreement', () => {
  const at = (name: string, number: number | null, hash: string | null) => ({ name, number, hash }) as NodeStatus

  test('heads of one number are compared, whenever they were seen', () => {
    const forkDetector = new ForkDetector()
    expect(forkDetector.check([at('a', 7, '0xaa'), at('b', 7, '0xaa'), at('c', 6, '0xcc')])).toBeUndefined()
    expect(forkDetector.check([at('a', 8, '0xdd'), at('d', null, null)])).toBeUndefined()
    expect(forkDetector.check([at('b', 6, '0xce')])).toEqual({
      number: 6,
      hashes: [
        { node: 'c', hash: '0xcc' },
        { node: 'b', hash: '0xce' },
      ],
    })
  })

  test('only the last blocks are kept', () => {
    const forkDetector = new ForkDetector()
    for (let number = 0; number <= 1_024; number++) forkDetector.check([at('a', number, `0x${number}`)])
    expect(forkDetector.check([at('b', 0, '0xff')])).toBeUndefined()
    expect(forkDetector.check([at('b', 3, '0xff')])).toBeDefined()
  })
})

test('the end of a log: its last lines, whole', () => {
  const dir = mkdtempSync(join(tmpdir(), 'tandem-test-'))
  try {
    const path = join(dir, 'node.log')
    expect(tailOf(path)).toEqual([])
    writeFileSync(path, 'one\ntwo\n')
    expect(tailOf(path)).toEqual(['one', 'two'])
    writeFileSync(path, Array.from({ length: 400 }, (_, line) => `${line} ${'x'.repeat(100)}\n`).join(''))
    expect(tailOf(path).map(line => line.split(' ')[0])).toEqual(Array.from({ length: 12 }, (_, i) => String(388 + i)))
    writeFileSync(path, `${'y'.repeat(40_000)}\nlast\n`)
    expect(tailOf(path)).toEqual(['last'])
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
})
