import { TokenBucket } from '@tandem/base/token-bucket.ts'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { NETWORK_LIMITS } from '../../../src/config/limits/network.ts'
import { DialScheduler } from '../../../src/network/core/dial-scheduler.ts'
import { PeerExchange } from '../../../src/network/gossip/peer-exchange.ts'
import type { PeerHub } from '../../../src/network/gossip/peer-hub.ts'
import { signPeerRecord } from '../../../src/network/identity/peer-record.ts'
import { PendingRequests } from '../../../src/network/peer/pending-requests.ts'
import { generateNodeKey } from '../../../src/network/transport/node-key.ts'
import { DOMAIN, signerOf } from '../../support/consensus/member.ts'
import { NetNodes, until } from '../../support/network/net-node.ts'
import { RawPeer } from '../../support/network/raw-peer.ts'

const nodes = new NetNodes()
afterEach(async () => {
  vi.useRealTimers()
  await nodes.stop()
})

test('a late response is tolerated once: a second one with its id is not free', async () => {
  vi.useFakeTimers()
  const pendingRequests = new PendingRequests()
  const pace = new TokenBucket({ perSecond: 1, burst: 1 }, performance.now())
  const response = pendingRequests.ask('getBlocks', pace, () => {}).catch(() => 'late')
  vi.advanceTimersByTime(NETWORK_LIMITS.requestMs + 1)
  expect(await response).toBe('late')
  expect(pendingRequests.begins(1, 'blocks')).toBe('late')
  expect(pendingRequests.begins(1, 'blocks')).toBe('unknown')
})

/** Records of nodes that do not exist. */
const inventedRecords = (count: number, hostOf = (index: number) => `127.0.${index}.1`): readonly Uint8Array[] =>
  Array.from({ length: count }, (_, index) => {
    const unsigned = { domain: DOMAIN, key: generateNodeKey(), sequence: 1, port: 30_333, signer: null }
    return signPeerRecord({ ...unsigned, host: hostOf(index) }).bytes
  })

describe('records of strangers', () => {
  test('are verified within a budget, whoever sends them', () => {
    const exchange = new PeerExchange({
      hub: { peer: () => undefined, random: () => 0.5 } as unknown as PeerHub,
      dialScheduler: new DialScheduler({ ...NETWORK_LIMITS, entries: 9_999 }, () => false),
      domain: DOMAIN,
      selfId: generateNodeKey().id,
      acceptsLoopback: false,
      lowPorts: new Set(),
      isMember: () => false,
    })
    const { burst } = NETWORK_LIMITS.recordChecks
    const records = inventedRecords(burst + 100, index => `${20 + (index >> 8)}.${index & 255}.1.1`)
    // Told by nodes of many networks, so that the buckets of none are full.
    records.forEach((bytes, index) => void exchange.heardFrom(`${60 + (index % 100)}.1.1.1`, [bytes]))
    expect(exchange.size).toBeGreaterThan(burst / 2)
    expect(exchange.size).toBeLessThan(burst + 20)
  })

  test('are not taken during the handshake of a node that dials', async () => {
    const node = await nodes.start()
    const stranger = await RawPeer.connect(node.port)
    stranger.send('hello', stranger.hello())
    stranger.send('records', inventedRecords(1))
    expect(await stranger.closed()).toBe('malformed')
  })

  test('are not requested from a stranger that dials', async () => {
    const node = await nodes.start({ committee: 2 })
    const stranger = await RawPeer.meet(node.port)
    const member = await RawPeer.meet(node.port, {}, signerOf(1))
    await until('a member is asked', () => member.said('getRecords').length === 1)
    expect(stranger.said('getRecords')).toHaveLength(0)
  })
})
