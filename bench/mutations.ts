import { randomFillSync } from 'node:crypto'
import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { bytesToHex, concatBytes, EMPTY_BYTES } from '@tandem/base/bytes.ts'
import { systemClock } from '@tandem/base/clock.ts'
import { createRandom } from '@tandem/base/random.ts'
import { NETWORKS } from '../src/config/networks.ts'
import { assembleNetwork } from '../src/network/assemble-network.ts'
import type { Hello } from '../src/network/messages/control-messages.ts'
import { NETWORK_PROTOCOL_VERSION } from '../src/network/messages/messages.ts'
import type { PeerPoolPort } from '../src/network/messages/ports.ts'
import { generateNodeKey } from '../src/network/transport/node-key.ts'
import type { Records } from '../src/network/transport/secure-channel.ts'
import { blockCodec } from '../test/support/consensus/ledger.ts'
import { DOMAIN } from '../test/support/consensus/member.ts'
import { mutate, TALK } from '../test/support/hostile/mutate.ts'
import { framesOf } from '../test/support/network/frames.ts'
import { LogBook } from '../test/support/network/net-node.ts'
import { wire } from '../test/support/network/raw-peer.ts'

/**
 * Mutated frames and handshakes at the network of a node in this process, each on a connection of its own: all that a node does with them
 * but encryption. One JSON line; ends with 1 when anything throws or is logged as an error, when an honest peer is not
 * answered in between, or when memory grows.
 *   node bench/mutations.ts [cases] [--seed 1]     (default: 1,000,000)
 */

/** The far end of a connection without a line: what is pushed arrives at once, what is sent back is counted. */
class MemorySocket extends EventEmitter {
  readonly remoteAddress = '127.0.0.1'
  readonly localAddress = '127.0.0.1'
  sentBytes = 0
  setNoDelay(): void {}
  cork(): void {}
  uncork(): void {}
  write(bytes: Uint8Array): boolean {
    this.sentBytes += bytes.byteLength
    return true
  }
  end(bytes?: Uint8Array): void {
    if (bytes !== undefined) this.write(bytes)
  }
  destroy(): void {}
}

/** A peer of a MemoryNode. */
class MemoryPeer {
  readonly id: string
  readonly #socket: MemorySocket

  constructor(id: string, socket: MemorySocket) {
    this.id = id
    this.#socket = socket
  }

  get sentBytes(): number {
    return this.#socket.sentBytes
  }

  /** Throws what the node throws. */
  push(bytes: Uint8Array): void {
    this.#socket.emit('data', bytes)
  }

  close(): void {
    this.#socket.emit('close')
  }
}

/** Frames as they are. */
const OPEN_RECORDS = {
  seal: (frame: Uint8Array) => frame,
  push: (bytes: Uint8Array, _: number, take: (frame: Uint8Array) => void) => framesOf(bytes).forEach(take),
  unfinishedSinceMs: null,
} as unknown as Records

/** All of a node's network but encryption, listening and dialing, in memory: as many connections a second as it can take. */
class MemoryNode {
  readonly log = new LogBook()
  readonly #parts

  constructor() {
    // Wants nothing, so that it is no memory of its own that grows.
    const pool: PeerPoolPort = {
      has: () => false,
      ready: () => [],
      raw: () => undefined,
      receive: async raws => raws.map(() => 'refused'),
    }
    const ports = {
      chain: { head: () => ({ number: 0, hash: DOMAIN.genesisHash }), earliest: () => 0 },
      members: { isMember: () => false, memberAt: () => undefined },
      blocks: blockCodec,
      pool,
      serve: { blocks: async () => [], receipts: async () => [] },
    }
    this.#parts = assembleNetwork(
      {
        ...DOMAIN,
        forks: NETWORKS.devnet.forks,
        nodeKey: generateNodeKey(),
        clientVersion: 'tandem/test',
        listen: null,
        storePath: null,
        clock: systemClock,
        logger: this.log,
        validator: null,
      },
      ports,
      {
        joined: peer => {
          this.#parts.consensus.joined(peer)
          this.#parts.transactions.joined(peer)
        },
        left: peer => {
          this.#parts.consensus.left(peer)
          this.#parts.transactions.left(peer)
        },
        tick: () => {},
      },
    )
  }

  get peerCount(): number {
    return this.#parts.peers.size
  }

  /** A connection whose other end proved this node id (32 random bytes will do: nobody looks at the key again). */
  connect(nodeId: Uint8Array): MemoryPeer {
    const socket = new MemorySocket()
    const id = bytesToHex(nodeId).slice(2)
    this.#parts.handshakes.begin(
      { socket: socket as unknown as Socket, nodeId: id, binding: nodeId, records: OPEN_RECORDS },
      null,
      () => {},
    )
    return new MemoryPeer(id, socket)
  }

  /** First message of a node of the same chain. */
  greeting(nodeId: string): Uint8Array {
    const fork = this.#parts.identity.forks.at(0)
    const hello: Hello = {
      version: NETWORK_PROTOCOL_VERSION,
      ...DOMAIN,
      forkHash: fork.hash,
      forkNext: fork.next,
      nodeId,
      instance: '0x0102030405060708',
      client: 'memory',
      head: { number: 0, hash: DOMAIN.genesisHash },
      earliest: 0,
      record: EMPTY_BYTES,
      proof: null,
    }
    return Buffer.concat([wire('hello', hello), wire('ready', null)])
  }
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: 'string', default: '1' } },
})
const cases = Number(positionals[0] ?? 1_000_000)
const random = createRandom(Number(values.seed))
const BATCH = 1_000
const MOST_GROWTH_MIB = 100

const node = new MemoryNode()
const someone = () => node.connect(randomFillSync(new Uint8Array(32)))
const rssMib = () => process.memoryUsage().rss / 2 ** 20
const ends = { malformed: 0, banned: 0, other: 0, errors: 0 }
let inHandshake = 0

/** Counts what was logged, and forgets it. */
const count = (): void => {
  for (const { level, fields } of node.log.lines.splice(0)) {
    if (level === 'error') ends.errors++
    const reason = fields['reason']
    if (reason === 'malformed') ends.malformed++
    else if (reason === 'banned') ends.banned++
    else if (reason !== undefined) ends.other++
  }
}

/** Somebody honest comes, asks and is answered; nobody else is there. */
const isServed = async (): Promise<boolean> => {
  const friend = someone()
  friend.push(node.greeting(friend.id))
  const before = friend.sentBytes
  friend.push(wire('getTransactions', [`0x${'ab'.repeat(32)}`], 1))
  await turn()
  const isAlone = node.peerCount === 1
  friend.close()
  return isAlone && friend.sentBytes > before
}

const startedMs = performance.now()
let warmMib = 0
for (let at = 0; at < cases; at++) {
  const peer = someone()
  if (random.chance(0.6)) {
    peer.push(concatBytes(node.greeting(peer.id), mutate(TALK, random)))
  } else {
    inHandshake++
    peer.push(mutate(concatBytes(node.greeting(peer.id), TALK), random))
  }
  peer.close()
  if (at % BATCH !== BATCH - 1) continue
  await turn()
  count()
  if (!(await isServed()) || ends.errors > 0)
    throw new Error(`case ${at}: ${JSON.stringify(ends)}, ${node.peerCount} peers`)
  if (at < cases / 5) warmMib = rssMib()
  if ((at + 1) % (100 * BATCH) === 0) process.stderr.write(`${at + 1} cases, ${Math.round(rssMib())} MiB\n`)
}
const seconds = (performance.now() - startedMs) / 1_000
const grownMib = Math.round(rssMib() - warmMib)
console.log(
  JSON.stringify({ bench: 'mutations', cases, inHandshake, ...ends, perSecond: Math.round(cases / seconds), grownMib }),
)
process.exit(grownMib > MOST_GROWTH_MIB ? 1 : 0)
