import { generateKeyPairSync } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { systemClock } from '@tandem/base/clock.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { NETWORK_LIMITS } from '../../../../src/config/limits/network.ts'
import type { PeerRecord } from '../../../../src/network/core/address-book.ts'
import { DialScheduler } from '../../../../src/network/core/dial-scheduler.ts'
import { PeerExchange } from '../../../../src/network/gossip/peer-exchange.ts'
import { readPeerRecord, signPeerRecord } from '../../../../src/network/identity/peer-record.ts'
import type { Hello } from '../../../../src/network/messages/control-messages.ts'
import type { Peer } from '../../../../src/network/peer/peer.ts'
import type { PeerSet } from '../../../../src/network/peer/peer-set.ts'
import { PeerStore, parseMemory } from '../../../../src/network/peer/peer-store.ts'
import { generateNodeKey, openNodeKey } from '../../../../src/network/transport/node-key.ts'
import { DOMAIN, signerOf } from '../../../support/consensus/member.ts'
import { LogBook, NetNodes, until } from '../../../support/network/net-node.ts'
import { RawPeer } from '../../../support/network/raw-peer.ts'

const dir = mkdtempSync(join(tmpdir(), 'tandem-network-'))
afterAll(() => rmSync(dir, { recursive: true }))
const nodes = new NetNodes()
afterEach(() => nodes.stop())

describe('a node key', () => {
  test('is made once, for the process alone, and read again', async () => {
    const path = join(dir, 'keys', 'node.pem')
    const made = await openNodeKey(path)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect((await openNodeKey(path)).id).toBe(made.id)
    expect(made.id).toMatch(/^[0-9a-f]{64}$/)
  })
  test('that every user of the machine can read is refused, with what to do', async () => {
    const path = join(dir, 'open.pem')
    const { id } = await openNodeKey(path)
    chmodSync(path, 0o644)
    await expect(openNodeKey(path)).rejects.toMatchObject({ code: 'NODE_KEY_INVALID', message: /chmod o-rwx/ })
    chmodSync(path, 0o640)
    expect((await openNodeKey(path)).id, 'a dedicated group may').toBe(id)
  })
  test('is one for all who need it at once', async () => {
    const keys = await Promise.all(Array.from({ length: 8 }, () => openNodeKey(join(dir, 'at-once.pem'))))
    expect(new Set(keys.map(({ id }) => id)).size).toBe(1)
  })
  test.each([
    ['no key', 'hello'],
    [
      'another kind',
      generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }),
    ],
  ])('that is %s is refused with what to do', async (_, text) => {
    const path = join(dir, 'bad.pem')
    writeFileSync(path, text)
    await expect(openNodeKey(path)).rejects.toMatchObject({ code: 'NODE_KEY_INVALID' })
    expect(readFileSync(path, 'utf8'), 'the file is left alone').toBe(text)
  })
})

test('a node whose clock was far ahead signs newer records than it did then', async () => {
  const [storePath, nodeKey, sequences] = [join(dir, 'ahead', 'peers.json'), generateNodeKey(), [] as number[]]
  for (const aheadMs of [1e12, 0]) {
    const clock = { ...systemClock, nowMs: () => Date.now() + aheadMs }
    const node = await nodes.start({ storePath, nodeKey, clock })
    const peer = await RawPeer.meet(node.port)
    const [{ record }] = peer.said('hello').map(({ value }) => value as Hello) as [Hello]
    readPeerRecord(record, DOMAIN, (_, sequence) => sequences.push(sequence) > 0)
    await node.network.stop()
  }
  expect(sequences[1]).toBeGreaterThan(sequences[0] as number)
})

describe('a record', () => {
  const key = generateNodeKey()
  const params = { domain: DOMAIN, key, sequence: 7, host: '192.0.2.7', port: 30_303, signer: signerOf(3) }
  const always = () => true
  test('is read as it was signed', () => {
    const record = signPeerRecord(params)
    expect(record.bytes.byteLength).toBeLessThan(NETWORK_LIMITS.recordBytes)
    expect(readPeerRecord(record.bytes, DOMAIN, always)).toEqual(record)
    expect(record.validator).toBe(signerOf(3).address)
  })
  test('of another chain, or changed anywhere, is invalid', () => {
    const { bytes } = signPeerRecord(params)
    expect(readPeerRecord(bytes, { ...DOMAIN, chainId: 1 }, always)).toBe('false')
    let refused = 0
    for (let at = 0; at < bytes.byteLength; at++) {
      const changed = bytes.slice()
      changed[at] = (changed[at] as number) ^ 1
      try {
        expect(readPeerRecord(changed, DOMAIN, always)).toBe('false')
      } catch (error) {
        expect(error).toMatchObject({ code: 'MESSAGE_MALFORMED' })
        refused++
      }
    }
    expect(refused).toBeLessThan(bytes.byteLength / 4)
  })
  test('costs no signature check when it is old', () => {
    const { bytes } = signPeerRecord(params)
    bytes[bytes.byteLength - 1] = (bytes[bytes.byteLength - 1] as number) ^ 1
    expect(readPeerRecord(bytes, DOMAIN, (_, sequence) => sequence > 7)).toBe('old')
  })
  test('names an address, never a name', () => {
    for (const host of ['example.org', '192.0.2.7.', 'fe80::1%eth0', '']) {
      expect(() => readPeerRecord(signPeerRecord({ ...params, host }).bytes, DOMAIN, always)).toThrow(
        /MESSAGE_MALFORMED/,
      )
    }
  })
  test('of this machine is of use only to nodes that are reached there, however its address is spelled', () => {
    const dialed: string[] = []
    const kept = (host: string, acceptsLoopback: boolean): number => {
      const exchange = new PeerExchange({
        hub: { peer: () => undefined, random: () => 0.5 } as unknown as PeerSet,
        dialScheduler: { add: (record: PeerRecord) => dialed.push(record.host) } as unknown as DialScheduler,
        domain: DOMAIN,
        selfId: '00'.repeat(32),
        acceptsLoopback,
        lowPorts: new Set<number>(),
        isMember: () => false,
      })
      exchange.restore([Buffer.from(signPeerRecord({ ...params, host }).bytes).toString('base64')])
      return exchange.book.size
    }
    const loopback = ['127.0.0.1', '::1', '0:0:0:0:0:0:0:1', '::ffff:7f00:1']
    const unspecified = ['0.0.0.0', '::', '::0', '::ffff:0:0']
    expect([...loopback, ...unspecified].filter(host => kept(host, false) > 0)).toEqual([])
    expect(unspecified.filter(host => kept(host, true) > 0)).toEqual([])
    expect([kept('::1', true), kept('2001:db8::1', false)]).toEqual([1, 1])
    expect(dialed).toEqual(['::1', '2001:db8::1'])
  })
  test('that its node did not sign is charged to its sender', async () => {
    const node = await nodes.start()
    const { bytes } = signPeerRecord(params)
    bytes[bytes.byteLength - 1] = (bytes[bytes.byteLength - 1] as number) ^ 1
    const peer = await RawPeer.meet(node.port)
    await until('asked', () => peer.said('getRecords').length === 1)
    peer.send('records', [bytes], peer.said('getRecords')[0]?.requestId)
    expect(await peer.closed()).toBe('misbehaved')
  })
})

describe('what peers tell of addresses', () => {
  const MEMBER = signerOf(3).address
  const makeExchange = (parts: Partial<ConstructorParameters<typeof PeerExchange>[0]> = {}) => {
    const blamed: string[] = []
    const hub = {
      peer: () => undefined,
      random: Math.random,
      blame: (_: unknown, offence: string) => blamed.push(offence),
    }
    const dialScheduler = new DialScheduler({ ...NETWORK_LIMITS, entries: 4_096 }, id => exchange.isMember(id), {
      isTried: id => exchange.book.isTried(id),
      remove: id => exchange.book.remove(id),
    })
    const exchange = new PeerExchange({
      hub: hub as unknown as PeerSet,
      dialScheduler,
      domain: DOMAIN,
      selfId: '00'.repeat(32),
      acceptsLoopback: false,
      lowPorts: new Set([443]),
      isMember: validator => validator === MEMBER || validator === signerOf(4).address,
      ...parts,
    })
    const hear = (remoteAddress: string, record: Partial<Parameters<typeof signPeerRecord>[0]> = {}) => {
      const key = generateNodeKey()
      const { bytes, id } = signPeerRecord({ ...params, key, signer: null, ...record })
      exchange.heard({ remoteAddress } as Peer, bytes)
      return { id, isKept: exchange.book.get(id) !== undefined }
    }
    const due = () =>
      dialScheduler.due(0, { isBusy: () => false, isBanned: () => false, dialing: new Set(), outbound: [] })
    return { exchange, hear, due, dialScheduler, blamed }
  }
  const params = { domain: DOMAIN, sequence: 7, host: '192.0.2.7', port: 30_303 }

  test('a member that signs a thousand node ids does not delay another', () => {
    const { hear, due, exchange } = makeExchange()
    const other = hear('203.0.113.9', { signer: signerOf(4) })
    for (let index = 0; index < 1_000; index++)
      hear('203.0.113.1', { signer: signerOf(3), sequence: index, host: `198.51.${index >> 8}.${index & 255}` })
    expect(exchange.book.size).toBe(1 + NETWORK_LIMITS.recordsPerValidator)
    expect(due().map(({ id }) => id)).toContain(other.id)
    expect(due()).toHaveLength(1 + NETWORK_LIMITS.recordsPerValidator)
  })

  test.each([
    ['198.51.100.1', 30_303, '203.0.113.1', true],
    ['10.0.0.1', 30_303, '203.0.113.1', false],
    ['10.0.0.1', 30_303, '10.0.0.9', true],
    ['192.168.1.1', 30_303, '::ffff:203.0.113.1', false],
    ['fd00::1', 30_303, '2001:db8::1', false],
    ['fd00::1', 30_303, 'fd00::9', true],
    ['169.254.169.254', 30_303, '169.254.1.1', false],
    ['169.254.169.254', 30_303, '10.0.0.9', false],
    ['::ffff:10.0.0.1', 30_303, '203.0.113.1', false],
    ['fe80::1', 30_303, 'fe80::2', false],
    ['64:ff9b::a9fe:a9fe', 30_303, '2001:db8::1', false],
    ['2002:a00:1::1', 30_303, '2001:db8::1', false],
    ['::10.0.0.1', 30_303, '2001:db8::1', false],
    ['224.0.0.1', 30_303, '203.0.113.1', false],
    ['198.51.100.1', 22, '203.0.113.1', false],
    ['198.51.100.1', 443, '203.0.113.1', true],
    ['127.0.0.1', 30_303, '127.0.0.1', false],
  ])('%s port %i, told by %s, is dialed: %s', (host, port, teller, isKept) => {
    expect(makeExchange().hear(teller, { host, port }).isKept).toBe(isKept)
  })

  test('one host named in hundreds of records is dialed a few times', () => {
    const { hear, due } = makeExchange()
    for (let index = 0; index < 300; index++) hear('203.0.113.1', { host: '198.51.100.1' })
    expect(due()).toHaveLength(NETWORK_LIMITS.recordsPerHost)
  })

  test('tried nodes and their sources outlast a restart, anchors come first, and what failed long is forgotten', () => {
    const first = makeExchange()
    const heard = Array.from({ length: 5 }, (_, index) => hear(first, index).id)
    const [one, two, three] = heard as [string, string, string]
    for (const id of [one, two]) first.exchange.connected(id)
    const second = makeExchange()
    second.exchange.restore(first.exchange.saved([two]))
    expect([one, two, three].map(id => second.exchange.book.isTried(id))).toEqual([true, true, false])
    expect(second.due()[0]?.id).toBe(two)
    expect(second.exchange.saved([])).toEqual(expect.arrayContaining([...first.exchange.saved([])]))
    for (let failure = 0; failure < NETWORK_LIMITS.forgetAfter; failure++)
      second.dialScheduler.failed(three, 'unreachable', 0, 0)
    expect(second.exchange.book.get(three)).toBeUndefined()
  })
  const hear = ({ hear: one }: ReturnType<typeof makeExchange>, index: number) =>
    one(`203.${index}.113.1`, { host: `198.${index}.100.1` })
})

describe('a ban of an address', () => {
  test('is for strangers: members, static peers and dialed nodes behind it connect', async () => {
    const storePath = join(dir, 'banned', 'peers.json')
    mkdirSync(dirname(storePath))
    const ban = { key: 'address/127.0.0.1', score: 0, atMs: Date.now(), bannedUntilMs: Date.now() + 600_000, bans: 3 }
    writeFileSync(storePath, JSON.stringify({ format: 1, scores: [ban], records: [], sequence: 0 }))
    const [friendKey, dialed] = [generateNodeKey(), await nodes.start()]
    const friend = { id: friendKey.id, host: '127.0.0.1', port: 1 }
    const node = await nodes.start({
      ...{ committee: 2, member: 0, storePath },
      staticPeers: [friend],
      bootnodes: [dialed.address],
    })
    const stranger = await RawPeer.connect(node.port)
    stranger.send('hello', stranger.hello())
    expect(await stranger.closed()).toBe('banned')
    const member = await RawPeer.meet(node.port, {}, signerOf(1))
    const known = await RawPeer.meet(node.port, {}, null, { key: friendKey })
    await until('all', () => [member.key.id, known.key.id, dialed.id].every(id => node.peerIds.includes(id)))
  })
})

describe('the peer file over a restart', () => {
  test('bans and records', async () => {
    const storePath = join(dir, 'memory', 'peers.json')
    const first = await nodes.start({ storePath })
    const bad = await RawPeer.connect(first.port)
    bad.write(Buffer.from('noise, noise, noise, noise'))
    expect(await bad.closed()).toBe('malformed')
    const friend = await nodes.start({ staticPeers: [first.address] })
    await until('its record', () => first.network.peers()[0]?.url !== null && first.network.peerCount === 1)
    await first.network.stop()
    expect(statSync(storePath).mode & 0o777).toBe(0o600)

    const again = await nodes.start({ storePath })
    const back = await RawPeer.connect(again.port, { key: bad.key })
    back.send('hello', back.hello())
    expect(await back.closed()).toBe('banned')
    await until('the friend, dialed by its record', () => again.peerIds.includes(friend.id))
  })
  test('is empty after damage, with a warning', async () => {
    for (const text of [
      '',
      '{',
      '[]',
      '{"format":2,"scores":[],"records":[]}',
      '{"format":1,"scores":[{"key":1}],"records":[]}',
      `{"format":1,"scores":[],"records":[],"sequence":${Number.MAX_SAFE_INTEGER}}`,
      '{"format":1,"scores":[],"records":[],"sequence":-1}',
      ...[-1, 0.5, Number.MAX_SAFE_INTEGER].map(
        bans => `{"format":1,"scores":[{"key":"a","score":0,"atMs":1,"bannedUntilMs":0,"bans":${bans}}],"records":[]}`,
      ),
    ]) {
      expect(parseMemory(text)).toBeUndefined()
      const path = join(dir, 'damaged.json')
      writeFileSync(path, text)
      const log = new LogBook()
      expect(await new PeerStore(path, log).load()).toEqual({ scores: [], records: [], sequence: 0 })
      expect(log.lines.map(({ level }) => level)).toEqual(['warn'])
    }
  })
  test('scores under their name in earlier versions', () => {
    const score = { key: 'a', score: -10, atMs: 1, bannedUntilMs: 0, bans: 0 }
    const text = JSON.stringify({ format: 1, standings: [score], records: [] })
    expect(parseMemory(text)).toEqual({ scores: [score], records: [], sequence: 0 })
  })
  test('nothing when there is no file', async () => {
    const log = new LogBook()
    expect(await new PeerStore(join(dir, 'none.json'), log).load()).toEqual({ scores: [], records: [], sequence: 0 })
    expect(log.lines).toEqual([])
    expect(await new PeerStore(null, silentLogger).load()).toEqual({ scores: [], records: [], sequence: 0 })
  })
  test('a disk that refuses is logged, and the network goes on', async () => {
    const log = new LogBook()
    writeFileSync(join(dir, 'file'), '')
    await new PeerStore(join(dir, 'file', 'peers.json'), log).save({ scores: [], records: [], sequence: 0 })
    expect(log.lines.map(({ level }) => level)).toEqual(['warn'])
  })
})
