import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { bytesToHex, EMPTY_BYTES } from '@tandem/base/bytes.ts'
import { systemClock } from '@tandem/base/clock.ts'
import { NETWORKS } from '../../../src/config/networks.ts'
import { assembleNetwork } from '../../../src/network/assemble-network.ts'
import { NETWORK_PROTOCOL_VERSION } from '../../../src/network/messages/messages.ts'
import type { PeerPoolPort } from '../../../src/network/messages/ports.ts'
import { generateNodeKey } from '../../../src/network/transport/node-key.ts'
import type { Records } from '../../../src/network/transport/secure-channel.ts'
import type { Hello } from '../../../src/network/wire/control.ts'
import { blockCodec } from '../consensus/ledger.ts'
import { DOMAIN } from '../consensus/member.ts'
import { framesOf } from '../network/frames.ts'
import { LogBook } from '../network/net-node.ts'
import { wire } from '../network/raw-peer.ts'

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
const OPEN_RECORDS: Records = {
  seal: frame => frame,
  push: (bytes, _, take) => framesOf(bytes).forEach(take),
  unfinishedSinceMs: null,
}

/** All of a node's network but encryption, listening and dialing, in memory: as many connections a second as it can take. */
export class MemoryNode {
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
