import { CodedError, undefinedIfCoded } from '@tandem/base/errors.ts'
import { getOrMake } from '@tandem/base/get-or-make.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import type { Random } from '@tandem/base/random.ts'
import { BlockSync } from '../../../src/chain/sync/block-sync.ts'
import { NETWORK_LIMITS } from '../../../src/config/limits/network.ts'
import type { ConsensusEngine } from '../../../src/consensus/engine/types.ts'
import type { RequestError } from '../../../src/network/core/errors.ts'
import type { SealedBlock } from '../../../src/network/messages/consensus-messages.ts'
import { type BlockRange, SYNC_MESSAGES } from '../../../src/network/messages/sync-messages.ts'
import type { Peer } from '../../../src/network/peer/peer.ts'
import { createPeerRequest } from '../../../src/network/peer/requester.ts'
import { encodeBlock } from '../../../src/primitives/block.ts'
import type { EventQueue } from '../network/event-queue.ts'
import { createWallClock, processClock } from './clock.ts'
import type { Host } from './host.ts'
import type { Ledger } from './ledger.ts'
import type { ProcessEnvironment } from './sim-process.ts'

/** Message of block sync: the head that a node announces, a request for blocks, and the response. */
export type SyncMessage =
  | { readonly type: 'head'; readonly number: number }
  | { readonly type: 'getBlocks'; readonly id: number; readonly range: BlockRange }
  | { readonly type: 'blocks'; readonly id: number; readonly bytes: Uint8Array }

/** Interval of a head's announcement, which may be lost. */
const ANNOUNCE_MS = 1_000

/** Blocks of a range with their certificates, as a node serves them. */
export const sealedRange = ({ blocks }: Pick<Ledger, 'blocks'>, { from, count }: BlockRange): readonly SealedBlock[] =>
  blocks.slice(from - 1, from - 1 + count).map(({ block, certificate }) => ({ block: encodeBlock(block), certificate }))

export const encodeBlocks = (sealed: readonly SealedBlock[]): Uint8Array => SYNC_MESSAGES.blocks.codec.encode(sealed)

export interface SimSyncOptions extends Pick<ProcessEnvironment, 'node' | 'keys' | 'params' | 'council' | 'ledger'> {
  readonly host: Host
  readonly engine: Pick<ConsensusEngine, 'catchUp'>
  readonly queue: EventQueue
  readonly neighbours: readonly number[]
  readonly random: Random
  readonly post: (to: number, message: SyncMessage) => void
  readonly counts: { heightsLeft: number; forgeries: number }
  /** Called for a peer that sent blocks which prove false. */
  readonly onForgery: (node: number, reason: string) => void
  /** Called when the engine leaves its height, and when it has one again. */
  readonly onLeft: (isAway: boolean) => void
}

/** Neighbour of which the process knows a head. */
type SyncPeer = Pick<Peer, 'id' | 'earliest' | 'place' | 'request'> & {
  head: { readonly number: number }
  requests: number
}

/** Block sync of one process, with the requester that ships. Time is that of a clock which nobody sets. */
export class SimSync {
  readonly #options: SimSyncOptions
  readonly #sync: BlockSync
  readonly #peers = new Map<number, SyncPeer>()
  readonly #forgers = new Set<string>()
  readonly #pending = new Map<number, (bytes: Uint8Array) => void>()
  readonly #clock
  #requests = 0

  constructor(options: SimSyncOptions) {
    this.#options = options
    const { host, engine, queue, keys, node, params, council, ledger, onLeft, random, counts } = options
    this.#clock = processClock(createWallClock(queue), host)
    const peers = () => [...this.#peers.values()].filter(({ id }) => !this.#forgers.has(id)) as unknown as Peer[]
    const request = createPeerRequest({ peers, blame: () => {}, random: () => random.next() })
    this.#sync = new BlockSync({
      network: {
        peers,
        request,
        reportForgery: (peer, reason) => {
          this.#forgers.add(peer)
          counts.forgeries++
          options.onForgery(Number(peer), reason)
        },
      },
      engine: {
        catchUp: async work => {
          onLeft(true)
          counts.heightsLeft++
          await engine.catchUp(work).finally(() => onLeft(false))
        },
      },
      head: () => ledger.head(),
      committees: council,
      isMember: () => council.committee(ledger.number + 1)?.members.includes(keys.addresses[node] ?? '0x') ?? false,
      rules: { domain: params, recover: keys.recover, certificates: 'tips' },
      withSenders: async block => ({ ...block, transactions: [] }),
      // A turn of the event loop is no unit of virtual time.
      pause: () => undefined,
      clock: this.#clock,
      logger: silentLogger,
    })
  }

  start(): void {
    this.#announce()
    this.#sync.start()
  }

  /** Tells all neighbours the head. */
  committed(): void {
    const { neighbours, ledger } = this.#options
    for (const to of neighbours) this.#post(to, { type: 'head', number: ledger.number })
  }

  receive(message: SyncMessage, from: number): void {
    switch (message.type) {
      case 'head':
        this.#peer(from).head = message
        this.#sync.consider()
        break
      case 'getBlocks': {
        const bytes = encodeBlocks(sealedRange(this.#options.ledger, message.range))
        this.#post(from, { type: 'blocks', id: message.id, bytes })
        break
      }
      case 'blocks':
        this.#pending.get(message.id)?.(message.bytes)
    }
  }

  #post(to: number, message: SyncMessage): void {
    if (!this.#options.host.isDead) this.#options.post(to, message)
  }

  #announce(): void {
    this.committed()
    this.#options.host.later(ANNOUNCE_MS, () => this.#announce())
  }

  #peer(node: number): SyncPeer {
    const request = async (_: string, range: unknown) => this.#ask(node, range as BlockRange)
    return getOrMake(this.#peers, node, () => ({
      ...{ id: String(node), head: { number: 0 }, earliest: 0, place: 'reserved', requests: 0 },
      request: request as Peer['request'],
    }))
  }

  /** Rejects with REQUEST_TIMEOUT; a malformed response counts as none. */
  #ask(node: number, range: BlockRange): Promise<readonly SealedBlock[]> {
    const peer = this.#peer(node)
    const id = this.#requests++
    const { promise, resolve, reject } = Promise.withResolvers<readonly SealedBlock[]>()
    peer.requests++
    const cancel = this.#clock.schedule(this.#clock.nowMs() + NETWORK_LIMITS.requestMs, () => {
      end()
      reject(new CodedError<RequestError>({ code: 'REQUEST_TIMEOUT', request: 'getBlocks' }))
    })
    const end = () => {
      cancel()
      peer.requests--
      this.#pending.delete(id)
    }
    this.#pending.set(id, bytes => {
      end()
      resolve(undefinedIfCoded(() => SYNC_MESSAGES.blocks.codec.decode(bytes)) ?? [])
    })
    this.#post(node, { type: 'getBlocks', id, range })
    return promise
  }
}
