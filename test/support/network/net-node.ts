import type { Hex } from '@tandem/base/bytes.ts'
import { systemClock } from '@tandem/base/clock.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { NETWORKS } from '../../../src/config/networks.ts'
import { keccak256Hex } from '../../../src/crypto/hash.ts'
import type { CommittedBlock } from '../../../src/network/gossip/block-gossip.ts'
import type { NetworkOptions } from '../../../src/network/identity/options.ts'
import type { SealedBlock } from '../../../src/network/messages/consensus-messages.ts'
import type { PeerHead } from '../../../src/network/messages/control-messages.ts'
import type {
  NetworkPorts,
  PeerPoolPort,
  PeerPoolVerdict,
  ServePort,
  SyncPort,
} from '../../../src/network/messages/ports.ts'
import type { BlockAnnouncement } from '../../../src/network/messages/sync-messages.ts'
import { Network } from '../../../src/network/network.ts'
import { generateNodeKey } from '../../../src/network/transport/node-key.ts'
import type { BlockCodec } from '../../../src/primitives/block.ts'
import type { ConsensusMessage, MessageAcceptance } from '../../../src/primitives/consensus/message.ts'
import { blockCodec } from '../consensus/ledger.ts'
import { DOMAIN, signerOf } from '../consensus/member.ts'
import { eventually } from '../node-process.ts'

interface LogLine {
  readonly level: string
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** Keeps what is logged. */
export class LogBook implements Logger {
  readonly lines: LogLine[] = []
  readonly #add = (level: string) => (fields: object, message: string) =>
    void this.lines.push({ level, message, fields: fields as Record<string, unknown> })
  error = this.#add('error')
  warn = this.#add('warn')
  info = this.#add('info')
  debug = this.#add('debug')
  child(): Logger {
    return this
  }
  reasons(message: string): readonly unknown[] {
    return this.lines.filter(line => line.message === message).map(({ fields }) => fields['reason'])
  }
}

/** A pool that takes what its first byte does not forbid: 0xff is invalid, 0xfe refused. */
export class RawPool implements PeerPoolPort {
  readonly held = new Map<Hex, Uint8Array>()
  readonly received: Hex[] = []
  /** Nothing is admitted before it is open. */
  gate: Promise<void> = Promise.resolve()
  onAccepted: (hash: Hex, raw: Uint8Array) => void = () => {}

  has(hash: Hex): boolean {
    return this.held.has(hash)
  }
  ready(limit: number): readonly Hex[] {
    return [...this.held.keys()].slice(0, limit)
  }
  raw(hash: Hex): Uint8Array | undefined {
    return this.held.get(hash)
  }
  async receive(raws: readonly Uint8Array[]): Promise<readonly PeerPoolVerdict[]> {
    await this.gate
    return raws.map(raw => this.#verdictOn(raw))
  }
  #verdictOn(raw: Uint8Array): PeerPoolVerdict {
    const hash = keccak256Hex(raw)
    this.received.push(hash)
    if (raw[0] === 0xff) return 'invalid'
    if (raw[0] === 0xfe) return 'refused'
    if (this.held.has(hash)) return 'known'
    this.held.set(hash, raw)
    this.onAccepted(hash, raw)
    return 'accepted'
  }
}

export interface NetNodeOptions extends Partial<Omit<NetworkOptions, 'validator'>> {
  /** Committee index. */
  readonly member?: number
  /** How many members the committee has. */
  readonly committee?: number
  /** Instead: who they are, as it changes. */
  readonly members?: ReadonlySet<Hex>
  /** The head it tells; that of `chain` when left out. */
  readonly head?: () => PeerHead
  /** Answers besides blocks. */
  readonly serve?: Partial<ServePort>
  /** false: consensus is another's; nothing is kept in `heard`. */
  readonly hears?: boolean
  /** Instead of one that decodes no transactions. */
  readonly blocks?: BlockCodec
  readonly sync?: SyncPort
  readonly pool?: RawPool
}

/** A network over the loopback with everything behind it in memory. */
export class NetNode {
  readonly network: Network
  readonly log = new LogBook()
  readonly pool: RawPool
  readonly heard: { readonly message: ConsensusMessage; readonly from: string }[] = []
  readonly blocks: (BlockAnnouncement & { readonly block?: Uint8Array; readonly from: string })[] = []
  readonly evidence: { readonly bytes: Uint8Array; readonly from: string }[] = []
  readonly chain: SealedBlock[] = []
  readonly id: string
  /** Answer of consensus and of the evidence pool to each message. */
  verdict: MessageAcceptance = 'accept'
  /** A question for blocks waits for this. */
  delay: Promise<void> = Promise.resolve()

  constructor({ member, committee = 0, members: changing, ...given }: NetNodeOptions = {}) {
    const { serve = {}, blocks = blockCodec, sync, pool = new RawPool(), hears = true, head, ...options } = given
    this.pool = pool
    const nodeKey = options.nodeKey ?? generateNodeKey()
    this.id = nodeKey.id
    const members = Array.from({ length: committee }, (_, index) => signerOf(index).address)
    this.network = new Network(
      {
        ...DOMAIN,
        forks: NETWORKS.devnet.forks,
        nodeKey,
        clientVersion: 'tandem/test',
        listen: { host: '127.0.0.1', port: 0 },
        storePath: null,
        clock: systemClock,
        logger: this.log,
        validator: member === undefined ? null : signerOf(member),
        limits: { backoffMs: 50 },
        ...options,
      },
      {
        ...this.#ports(members, changing ?? new Set(members), serve),
        blocks,
        ...(sync && { sync }),
        ...(head && { chain: { head, earliest: () => 0 } }),
      },
    )
    this.pool.onAccepted = (hash, raw) => this.network.announceTransactions([{ hash, raw }])
    if (hears) this.#hear()
    this.network.evidence.onReceived((bytes, from) => {
      this.evidence.push({ bytes, from })
      if (this.verdict === 'accept') this.network.evidence.broadcast(bytes)
      if (this.verdict === 'reject') this.network.evidence.misbehaved(from, 'evidence that proves nothing')
    })
  }

  #hear(): void {
    this.network.consensus.onMessage((message, from) => {
      this.heard.push({ message, from })
      if (this.verdict === 'reject') this.network.consensus.misbehaved(from)
      return this.verdict
    })
  }

  get port(): number {
    return this.network.self().listening?.port ?? 0
  }

  get address() {
    return { id: this.id, host: '127.0.0.1', port: this.port }
  }

  get peerIds(): readonly string[] {
    return this.network.peers().map(({ id }) => id)
  }

  committed(number: number, block: Uint8Array): CommittedBlock {
    const certificate = { round: 0, bitmap: Uint8Array.of(1), seals: [new Uint8Array(65)] }
    return { number, hash: keccak256Hex(Uint8Array.of(number)), certificate, encode: () => block }
  }

  #ports(members: readonly Hex[], present: ReadonlySet<Hex>, serve: Partial<ServePort>): Omit<NetworkPorts, 'blocks'> {
    return {
      chain: { head: () => ({ number: this.chain.length, hash: DOMAIN.genesisHash }), earliest: () => 0 },
      members: { isMember: address => present.has(address), memberAt: (_, index) => members[index] },
      pool: this.pool,
      serve: {
        blocks: async ({ from, count }) => {
          await this.delay
          return this.chain.slice(from, from + count)
        },
        receipts: async () => [],
        ...serve,
      },
      sync: { onBlock: (announcement, from) => void this.blocks.push({ ...announcement, from }) },
    }
  }
}

/** Nodes that are stopped together. */
export class NetNodes {
  readonly nodes: NetNode[] = []

  async start(options: NetNodeOptions = {}): Promise<NetNode> {
    const node = new NetNode(options)
    this.nodes.push(node)
    await node.network.start()
    return node
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map(({ network }) => network.stop()))
    this.nodes.length = 0
  }
}

const PATIENCE_MS = 45_000

/** Waits until something is so; fails with what was waited for. */
export const until = async (what: string, isSo: () => boolean | Promise<boolean>): Promise<void> => {
  await eventually(what, async () => (await isSo()) || undefined, { withinMs: PATIENCE_MS, everyMs: 5 })
}
