import { describe, expect, test } from 'vitest'
import { DialScheduler, type DialState } from '../../../../src/network/core/dial-scheduler.ts'

const limits = {
  dialing: 3,
  outbound: 2,
  entries: 4,
  backoffMs: 1_000,
  backoffCapMs: 8_000,
  wantedCapMs: 3_000,
  incompatibleMs: 600_000,
  forgetAfter: 3,
  stableMs: 30_000,
}
const at = (id: string, port = 1) => ({ id, host: '192.0.2.1', port })
const scene = (parts: Partial<DialState> = {}): DialState => ({
  isBusy: () => false,
  isBanned: () => false,
  dialing: new Set(),
  outbound: [],
  ...parts,
})
const nobody = () => false
const due = (dialScheduler: DialScheduler, nowMs = 0, parts: Partial<DialState> = {}) =>
  dialScheduler.due(nowMs, scene(parts)).map(({ id }) => id)

describe('whom to dial', () => {
  const all = (isMember: (id: string) => boolean = nobody) => {
    const dialScheduler = new DialScheduler(limits, isMember)
    dialScheduler.add(at('boot'), 'bootnode')
    dialScheduler.add(at('known'), 'known')
    dialScheduler.add(at('member'), 'known')
    dialScheduler.add(at('static'), 'static')
    return dialScheduler
  }

  test('is ordered: static peers, members, known ones, bootnodes', () => {
    const isMember = (id: string) => id === 'member'
    expect(due(all(isMember))).toEqual(['static', 'member', 'known', 'boot'])
    expect(due(all(isMember), 0, { isBusy: id => id === 'known' })).toEqual(['static', 'member', 'boot'])
  })
  test('takes tried nodes, others and bootnodes in turn, whatever number of one kind waits', () => {
    const isTried = (id: string) => id.startsWith('tried')
    const records = { isTried, remove: () => {} }
    const dialScheduler = new DialScheduler({ ...limits, outbound: 9, entries: 999 }, nobody, records)
    for (let index = 0; index < 768; index++) dialScheduler.add(at(`false${index}`), 'known')
    for (const name of ['tried0', 'tried1']) dialScheduler.add(at(name), 'known')
    for (const name of ['boot0', 'boot1']) dialScheduler.add(at(name), 'bootnode')
    expect(due(dialScheduler)).toEqual(['tried0', 'false0', 'boot0'])
    // One place at a time, too.
    const one = { dialing: new Set(['false1', 'false2']), isBusy: (id: string) => id.endsWith('0') }
    expect(Array.from({ length: 3 }, () => due(dialScheduler, 0, one)[0])).toEqual(['tried1', 'false1', 'boot1'])
  })
  test('is spread over networks, whatever number of one network waits', () => {
    const dialScheduler = new DialScheduler({ ...limits, dialing: 8, outbound: 16, entries: 999 }, nobody)
    for (let index = 0; index < 128; index++)
      dialScheduler.add({ id: `false${index}`, host: `6.6.${index}.1`, port: 1 }, 'known')
    for (let index = 0; index < 10; index++)
      dialScheduler.add({ id: `honest${index}`, host: `${20 + index}.1.1.1`, port: 1 }, 'known')
    const outbound = ['6.6.1.200']
    const chosen = due(dialScheduler, 0, { outbound })
    expect(chosen.filter(id => id.startsWith('honest'))).toHaveLength(8)
    const rest = due(dialScheduler, 0, { outbound, isBusy: id => chosen.includes(id), dialing: new Set(['honest8']) })
    expect(rest.filter(id => id.startsWith('honest'))).toHaveLength(2)
  })
  test('is static peers and members alone when the places for others are taken', () => {
    expect(
      due(
        all(id => id === 'member'),
        0,
        { outbound: ['192.0.2.7', '192.0.2.8'] },
      ),
    ).toEqual(['static', 'member'])
  })
  test('excludes connected, dialing and banned nodes', () => {
    expect(due(all(), 0, { isBusy: id => id !== 'boot' })).toEqual(['boot'])
    expect(due(all(), 0, { isBanned: id => id !== 'known' })).toEqual(['known'])
  })
  test('is no more at once than there are places, which others do not take from static peers and members', () => {
    const dialScheduler = new DialScheduler({ ...limits, outbound: 9, entries: 99 }, id => id.startsWith('member'))
    for (const name of ['other', 'member'])
      for (let index = 0; index < 4; index++) dialScheduler.add(at(`${name}${index}`), 'known')
    for (let index = 0; index < 4; index++) dialScheduler.add(at(`static${index}`), 'static')
    const others = ['other0', 'other1', 'other2']
    const wanted = ['static0', 'static1', 'static2']
    expect(due(dialScheduler)).toEqual([...wanted, ...others])
    const during = (...ids: readonly string[]) =>
      due(dialScheduler, 0, { isBusy: id => ids.includes(id), dialing: new Set(ids) })
    expect(during(...others)).toEqual(wanted)
    expect(during(...wanted)).toEqual(others)
    expect(during('other0', 'member0', 'static0')).toEqual(['static1', 'other1', 'other2'])
    expect(during(...others, ...wanted)).toEqual([])
  })
  test('is a bounded number of known nodes, and what the operator says in any case', () => {
    const dialScheduler = all()
    dialScheduler.add(at('more'), 'known')
    expect(dialScheduler.size).toBe(4)
    dialScheduler.add(at('more static'), 'static')
    expect(dialScheduler.size).toBe(5)
  })
})

describe('after a failure', () => {
  test('pauses grow twofold up to the longest, half of them chance', () => {
    for (const [failures, fullMs] of [1_000, 2_000, 4_000, 8_000, 8_000, 8_000].entries()) {
      for (const random of [0, 1]) {
        const dialScheduler = new DialScheduler(limits, nobody)
        dialScheduler.add(at('a'), 'bootnode')
        for (let count = 0; count <= failures; count++) dialScheduler.failed('a', 'unreachable', 0, random)
        const pauseMs = random === 0 ? fullMs / 2 : fullMs
        expect(due(dialScheduler, pauseMs - 1)).toEqual([])
        expect(due(dialScheduler, pauseMs)).toEqual(['a'])
      }
    }
  })
  test('of a static peer or a member, the longest pause is short, and it is never forgotten: a quorum may hang on it', () => {
    const dialScheduler = new DialScheduler(limits, id => id === 'member')
    dialScheduler.add(at('static'), 'static')
    dialScheduler.add(at('member'), 'known')
    for (let count = 0; count < 50; count++)
      for (const id of ['static', 'member']) dialScheduler.failed(id, 'unreachable', count, 1)
    expect(due(dialScheduler, 49 + limits.wantedCapMs - 1)).toEqual([])
    expect(due(dialScheduler, 49 + limits.wantedCapMs)).toEqual(['static', 'member'])
  })
  test('that will not change soon, it waits long; to itself, for ever', () => {
    const dialScheduler = new DialScheduler(limits, nobody)
    for (const id of ['a', 'b']) dialScheduler.add(at(id), 'static')
    dialScheduler.failed('a', 'wrongGenesis', 0, 0)
    dialScheduler.failed('b', 'self', 0, 0)
    expect(due(dialScheduler, limits.incompatibleMs - 1)).toEqual([])
    expect(due(dialScheduler, limits.incompatibleMs)).toEqual(['a'])
    expect(dialScheduler.size).toBe(1)
  })
  test('known nodes are forgotten, others are not', () => {
    const dialScheduler = new DialScheduler(limits, nobody)
    dialScheduler.add(at('known'), 'known')
    dialScheduler.add(at('boot'), 'bootnode')
    for (let count = 0; count < 3; count++)
      for (const id of ['known', 'boot']) dialScheduler.failed(id, 'unreachable', count, 0)
    expect(dialScheduler.kindOf('known')).toBeUndefined()
    expect(dialScheduler.kindOf('boot')).toBe('bootnode')
  })
  test('a connection that held begins the pauses anew', () => {
    const dialScheduler = new DialScheduler(limits, nobody)
    dialScheduler.add(at('a'), 'bootnode')
    for (let count = 0; count < 4; count++) dialScheduler.failed('a', 'unreachable', 0, 1)
    dialScheduler.ended('a', null, limits.stableMs - 1, 0, 1)
    expect(due(dialScheduler, 7_999)).toEqual([])
    dialScheduler.ended('a', null, limits.stableMs, 0, 1)
    expect(due(dialScheduler, 1_000)).toEqual(['a'])
  })
})

test('a node may be dialed later, to let it dial first', () => {
  const dialScheduler = new DialScheduler(limits, nobody)
  dialScheduler.add(at('a'), 'known', 500)
  expect([due(dialScheduler, 499), due(dialScheduler, 500)]).toEqual([[], ['a']])
})

test('a new address is dialed at once, but not one that counts less', () => {
  const dialScheduler = new DialScheduler(limits, nobody)
  dialScheduler.add(at('a'), 'static')
  dialScheduler.failed('a', 'unreachable', 0, 1)
  dialScheduler.add(at('a', 2), 'known')
  expect(due(dialScheduler)).toEqual([])
  dialScheduler.add(at('a', 2), 'static')
  expect(dialScheduler.due(0, scene())).toEqual([at('a', 2)])
  dialScheduler.failed('a', 'unreachable', 0, 1)
  dialScheduler.add(at('a', 2), 'static')
  expect(due(dialScheduler), 'the same address is no news').toEqual([])
})
