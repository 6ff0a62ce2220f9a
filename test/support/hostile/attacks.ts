import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { bytesToHex, concatBytes, type Hex } from '@tandem/base/bytes.ts'
import { keccak256 } from '../../../src/crypto/hash.ts'
import { sign } from '../../../src/crypto/signature.ts'
import { signPeerRecord } from '../../../src/network/identity/peer-record.ts'
import { MESSAGES } from '../../../src/network/messages/messages.ts'
import { generateNodeKey } from '../../../src/network/transport/node-key.ts'
import { encodeFrames } from '../../../src/network/wire/frames.ts'
import { signedRaw } from '../chain.ts'
import { validatorKey, validatorOf } from '../council-nodes.ts'
import { RawPeer, wire } from '../network/raw-peer.ts'
import { assault, type Counts, otherAddress, pour, RETRY_MS, type Scene } from './lanes.ts'
import { MEMBER_ATTACKS } from './member-attacks.ts'
import { mutate, TALK } from './mutate.ts'

/** Attack on a node until the signal; returns counts of its connections. */
type Attack = (scene: Scene) => Promise<Counts>

const HASH: Hex = `0x${'ab'.repeat(32)}`
const hash = (): Hex => bytesToHex(randomBytes(32))
const FAR = 2 ** 40
/** Certificate that nobody signed. */
const CERTIFICATE = { round: 0, bitmap: Uint8Array.of(1), seals: [new Uint8Array(65)] }
/** Many messages in one write. */
const many = (count: number, bytes: Uint8Array): Uint8Array =>
  concatBytes(...Array.from({ length: count }, () => bytes))

const vote = (number: number) =>
  wire('vote', {
    type: 'prepare',
    number,
    round: 0,
    blockHash: HASH,
    sender: 0,
    signature: new Uint8Array(65).fill(1),
  })

/** Well-formed transactions of accounts that have nothing: each costs a signature to find out. */
const poorTransactions = (count: number, chainId: number): readonly Uint8Array[] =>
  Array.from({ length: count }, (_, index) =>
    signedRaw(keccak256(randomBytes(32)), { chainId, nonce: index % 3, value: 1n }),
  )

const idle = (ms: number, signal: AbortSignal): Promise<void> => sleep(ms, undefined, { signal }).catch(() => undefined)

/** Connections that prove a node key and do not shake hands, each opened anew when its use is over. */
const approach = async (
  { target, random, signal }: Scene,
  count: number,
  use: (peer: RawPeer) => Promise<void>,
): Promise<Counts> => {
  const counts: Counts = { connected: 0, refused: 0, closed: 0 }
  const lane = async (): Promise<void> => {
    while (!signal.aborted) {
      const options = { domain: target.domain, from: otherAddress(random) }
      const peer = await RawPeer.connect(target.port, options).catch(() => undefined)
      if (peer === undefined) {
        counts.refused++
        await idle(100, signal)
        continue
      }
      counts.connected++
      await use(peer)
      counts.closed++
    }
  }
  await Promise.all(Array.from({ length: count }, lane))
  return counts
}

/** Peers that send records to whoever asks, and leave: somebody new is asked at once. */
const tellRecords = (scene: Scene, records: readonly Uint8Array[]): Promise<Counts> => {
  let next = 0
  const told = () => Array.from({ length: 64 }, () => records[next++ % records.length] as Uint8Array)
  return assault(scene, 8, async (peer, round) => {
    for (const { requestId } of peer.take('getRecords')) peer.send('records', told(), requestId)
    await idle(50, scene.signal)
    if (round > 4) peer.close()
  })
}

/** Sockets kept open, and opened anew when they are closed. */
const hold = async (
  { target, random, signal }: Scene,
  count: number,
  use: (socket: Socket) => void,
): Promise<Counts> => {
  const counts: Counts = { connected: 0, refused: 0, closed: 0 }
  const lane = async (): Promise<void> => {
    while (!signal.aborted) {
      const socket = connect({ host: '127.0.0.1', port: target.port, localAddress: otherAddress(random) })
      const closed = new Promise<void>(resolve => socket.once('close', () => resolve()))
      const stop = () => socket.destroy()
      signal.addEventListener('abort', stop)
      socket.on('error', () => {})
      socket.once('connect', () => {
        counts.connected++
        use(socket)
      })
      socket.resume()
      await closed
      signal.removeEventListener('abort', stop)
      counts.closed++
      await idle(RETRY_MS, signal)
    }
  }
  await Promise.all(Array.from({ length: count }, lane))
  return counts
}

export const ATTACKS = {
  /** Nothing, for comparison. */
  none: async ({ signal }) => {
    await idle(24 * 3_600_000, signal)
    return { connected: 0, refused: 0, closed: 0 }
  },
  mutatedFrames: scene =>
    assault(scene, 4, async peer => {
      await pour(peer, mutate(TALK, scene.random))
      await idle(20, scene.signal)
    }),
  mutatedHandshakes: scene =>
    approach(scene, 1, async peer => {
      peer.write(mutate(concatBytes(wire('hello', peer.hello()), wire('ready', null)), scene.random))
      await idle(20, scene.signal)
      peer.socket.end()
    }),
  oversize: scene =>
    assault(scene, 4, async peer => {
      const { maxBytes } = MESSAGES.newBlock
      await pour(peer, encodeFrames('sync', MESSAGES.newBlock.id, 0, new Uint8Array(maxBytes + 1)).bytes)
      await idle(50, scene.signal)
    }),
  /** As much as a chain of 77 certificates, before anybody is known. */
  earlyBytes: scene => hold(scene, 40, socket => socket.write(randomBytes(100_000))),
  /** Connections that say nothing at all, hundreds a second. */
  silent: scene => hold(scene, 200, () => {}),
  /** Silent peers that claim a head far away. */
  falseHeads: scene =>
    assault(scene, 3, () => idle(1_000, scene.signal), { head: { number: 1_000_000_000, hash: HASH } }),
  /** A member's key that signs a thousand node ids at dead hosts. */
  memberRecords: scene => {
    const signer = { address: validatorOf(3), sign: (digest: Uint8Array) => sign(digest, validatorKey(3)) }
    const { domain } = scene.target
    const records = Array.from({ length: 1_000 }, (_, index) => {
      const key = generateNodeKey()
      const host = `127.200.${index >> 8}.${index & 255}`
      return signPeerRecord({ domain, key, sequence: index, host, port: 20_000, signer }).bytes
    })
    return tellRecords(scene, records)
  },
  /** Connections that never say anything of the protocol, and some that say a byte a second. */
  slowLoris: scene =>
    hold(scene, 200, socket => {
      const drip = setInterval(() => socket.write(Uint8Array.of(0x16)), 1_000)
      socket.once('close', () => clearInterval(drip))
    }),
  /** They prove a node key, and then begin a hello, a byte a second. */
  slowHello: scene =>
    approach(scene, 40, async peer => {
      const hello = peer.secureChannel.records.seal(wire('hello', peer.hello()))
      for (let at = 0; !peer.isClosed && !scene.signal.aborted; at++) {
        peer.socket.write(hello.subarray(at, at + 1))
        await idle(1_000, scene.signal)
      }
      peer.close()
      await idle(RETRY_MS, scene.signal)
    }),
  connections: scene => hold(scene, 100, socket => void socket.destroy()),
  votesOfStrangers: scene => {
    const bytes = many(100, vote(5))
    return assault(scene, 8, peer => pour(peer, bytes))
  },
  proposalsOfStrangers: scene => {
    const one = encodeFrames('proposals', MESSAGES.proposal.id, 0, new Uint8Array(MESSAGES.proposal.maxBytes)).bytes
    return assault(scene, 8, peer => pour(peer, one))
  },
  unsolicited: scene => {
    const one = encodeFrames('sync', MESSAGES.blocks.id, 77, new Uint8Array(1_000_000)).bytes
    return assault(scene, 8, peer => pour(peer, one))
  },
  /** As many questions as the quota allows, from as many strangers as find a place. */
  requests: scene =>
    assault(scene, 40, async (peer, round) => {
      await pour(peer, wire('getBlocks', { from: 0, count: 128 }, round + 1))
      await idle(105, scene.signal)
    }),
  transactions: scene =>
    assault(scene, 8, async peer => {
      await pour(peer, wire('newTransactions', poorTransactions(100, scene.target.domain.chainId)))
      await idle(20, scene.signal)
    }),
  badTransactions: scene => {
    const one = wire('newTransactions', [signedRaw(keccak256(randomBytes(32)), { chainId: 1 })])
    return assault(scene, 4, peer => pour(peer, one))
  },
  hashes: scene =>
    assault(scene, 20, async peer => {
      const made = randomBytes(32 * 4_096)
      const hashes = Array.from({ length: 4_096 }, (_, at) => bytesToHex(made.subarray(32 * at, 32 * at + 32)))
      await pour(peer, wire('transactionHashes', hashes))
      await idle(60, scene.signal)
    }),
  announcements: scene =>
    assault(scene, 20, async peer => {
      const one = wire('newBlockHash', { number: FAR, hash: hash(), certificate: CERTIFICATE })
      await pour(peer, many(10, one))
      await idle(210, scene.signal)
    }),
  /** It says it is far ahead, and answers with what is no block. */
  falseRanges: scene =>
    assault(
      scene,
      8,
      async peer => {
        for (const { requestId } of peer.take('getBlocks'))
          peer.send('blocks', [{ block: Uint8Array.of(0xc0), certificate: CERTIFICATE }], requestId)
        await idle(20, scene.signal)
      },
      { head: { number: FAR, hash: HASH } },
    ),
  /** Signed records of nodes that are nowhere. */
  records: scene => {
    const records = Array.from({ length: 2_000 }, (_, index) => {
      const place = { host: `127.201.${index >> 8}.${index & 255}`, port: 20_000 + (index % 1_000) }
      const { domain } = scene.target
      return signPeerRecord({ domain, key: generateNodeKey(), sequence: 1, ...place, signer: null }).bytes
    })
    return tellRecords(scene, records)
  },
  evidence: scene =>
    assault(scene, 4, async peer => {
      await pour(peer, wire('evidence', randomBytes(200)))
      await idle(20, scene.signal)
    }),
  ...MEMBER_ATTACKS,
} as const satisfies Record<string, Attack>

export type AttackName = keyof typeof ATTACKS
