import { join } from 'node:path'
import { isUnspecifiedAddress } from '@tandem/base/address.ts'
import type { Hex } from '@tandem/base/bytes.ts'
import { type Clock, steadyClock } from '@tandem/base/clock.ts'
import { CodedError } from '@tandem/base/errors.ts'
import type { Logger } from '@tandem/base/logger.ts'
import type { Chain } from '../../chain/chain.ts'
import type { Council } from '../../chain/council/council.ts'
import type { HistoryBackfill } from '../../chain/snapshot/backfill/history-backfill.ts'
import type { BlockStore } from '../../chain/store/block-store.ts'
import type { SyncStatus } from '../../chain/store/types.ts'
import { BlockSync } from '../../chain/sync/block-sync.ts'
import { syncTarget } from '../../chain/sync/sync-target.ts'
import { CONSENSUS_LIMITS } from '../../config/limits/consensus.ts'
import type { NetworkParams } from '../../config/networks.ts'
import type { ConsensusEngine } from '../../consensus/engine/types.ts'
import type { EvidenceStore } from '../../consensus/evidence/evidence.ts'
import { EvidenceRelay } from '../../consensus/evidence/evidence-relay.ts'
import { createSignatureVerifier } from '../../consensus/signer/signature-verifier.ts'
import { recoverAddress } from '../../crypto/signature.ts'
import type { Metrics } from '../../metrics/registry.ts'
import { peerUrl } from '../../network/identity/peer-url.ts'
import type {
  MembersPort,
  NetworkPorts,
  PeerPoolPort,
  PeerPoolVerdict,
  SyncPort,
} from '../../network/messages/ports.ts'
import { Network } from '../../network/network.ts'
import { openNodeKey } from '../../network/transport/node-key.ts'
import type { ProofPool } from '../../powchain/proof-pool.ts'
import { createProofRelay, type ProofRelay } from '../../powchain/proof-relay.ts'
import { type Block, type BlockCodec, type DecodedBlock, encodeBlock } from '../../primitives/block.ts'
import type { ValidatorSigner } from '../../primitives/consensus/vote.ts'
import type { PoolService } from '../../txpool/pool-service.ts'
import type { AdmitOutcome } from '../../txpool/pool-submission.ts'
import type { PeersView } from '../health.ts'
import type { PeerOptions } from '../options.ts'
import { nodeKeyFile } from '../parts/operator-address.ts'
import type { SnapshotBootstrap } from '../snapshot/bootstrap.ts'
import type { SnapshotParts } from '../snapshot/snapshot-parts.ts'
import { clientVersion } from '../version.ts'
import { servePort } from './serve-port.ts'

/** Errors of a transaction that is invalid on every node, whatever its head and options; its sender should have known. */
const INVALID: ReadonlySet<string> = new Set([
  'TRANSACTION_MALFORMED',
  'INVALID_CHAIN_ID',
  'INVALID_SENDER',
  'TIP_ABOVE_FEE_CAP',
  'OVERSIZED',
  'NONCE_MAX',
])

/** Pool as peers see it. */
export const poolPort = (pool: Pick<PoolService, 'get' | 'select' | 'receive'>): PeerPoolPort => ({
  has: hash => pool.get(hash) !== undefined,
  raw: hash => pool.get(hash)?.raw,
  ready(limit) {
    const selection = pool.select()
    const hashes: Hex[] = []
    for (let next = selection.next(); next !== undefined && hashes.length < limit; next = selection.next())
      hashes.push(next.hash)
    return hashes
  },
  receive: async raws => (await pool.receive(raws)).map(verdictOf),
})

const verdictOf = (admitOutcome: AdmitOutcome): PeerPoolVerdict => {
  if (typeof admitOutcome === 'string') return 'accepted'
  if (admitOutcome.code === 'ALREADY_KNOWN') return 'known'
  return INVALID.has(admitOutcome.code) ? 'invalid' : 'refused'
}

/**
 * Members of the consensus channels: the councils of the open height and of its neighbours, so that a change of council excludes no
 * node that is a height ahead or behind. A jailed member stays as long as it serves, since its votes still count. Computed once per
 * head, since every message needs it.
 */
export const membersPort = (
  council: Pick<Council, 'committee' | 'memberStatuses'>,
  head: () => number,
  onKeyInUse: (nodeId: string) => void,
): MembersPort => {
  let gatheredAt = -1
  let members: ReadonlySet<Hex> = new Set()
  const gathered = (): ReadonlySet<Hex> => {
    const number = head()
    if (number === gatheredAt) return members
    gatheredAt = number
    const heights = [number, number + 1, number + 2]
    const listed = heights.flatMap(at => council.memberStatuses(at) ?? []).filter(({ status }) => status !== 'jailed')
    const serving = heights.flatMap(at => council.committee(at)?.members ?? [])
    members = new Set([...listed.map(({ validator }) => validator), ...serving])
    return members
  }
  return {
    isMember: address => gathered().has(address),
    memberAt: (number, index) => council.committee(number)?.members[index],
    onKeyInUse,
  }
}

interface NodePeersOptions {
  readonly options: PeerOptions
  readonly params: NetworkParams
  readonly genesisHash: Hex
  readonly dataDir: string
  readonly chain: Chain
  readonly blocks: BlockStore
  readonly council: Pick<Council, 'committee' | 'memberStatuses'>
  /** Keeps evidence until a block holds it. */
  readonly evidencePool: EvidenceStore
  readonly proofPool: ProofPool
  readonly pool: PoolService
  readonly codec: BlockCodec
  readonly withSenders: (block: DecodedBlock) => Promise<Block>
  readonly signer: ValidatorSigner | null
  readonly snapshots?: SnapshotParts
  readonly metrics?: Metrics
  readonly clock: Clock
  readonly part: (module: string) => Logger
}

/** Another node of this network holds this node's validator key and has proved it. */
type KeyElsewhereError = { readonly code: 'KEY_IN_USE_ELSEWHERE'; readonly address: Hex; readonly peer: string }

/** Peer-to-peer side of the node: the network over chain, pool and council, evidence exchange, and block sync. */
export class NodePeers {
  readonly network: Network
  /** Receiver of the engine's evidence: passes it to the evidence pool and to all peers. */
  readonly evidence: EvidenceRelay
  readonly #proofs: ProofRelay
  readonly #options: NodePeersOptions
  #sync: BlockSync | undefined
  #snapshotBootstrap: SnapshotBootstrap | undefined
  #history: HistoryBackfill | undefined
  #giveUp: (error: Error) => void = () => {}
  #stops: readonly (() => void)[] = []

  /** Throws NODE_KEY_INVALID, TOO_MANY_STATIC_PEERS. Nothing happens before `start`. */
  static async open(options: NodePeersOptions): Promise<NodePeers> {
    return new NodePeers(options, await openNodeKey(nodeKeyFile(options.dataDir)))
  }

  private constructor(options: NodePeersOptions, nodeKey: Awaited<ReturnType<typeof openNodeKey>>) {
    const { options: flags, params, genesisHash, dataDir, council, evidencePool, signer, clock, part } = options
    this.#options = options
    this.network = new Network(
      {
        ...flags,
        chainId: params.chainId,
        genesisHash,
        forks: params.forks,
        nodeKey,
        clientVersion,
        validator: signer,
        storePath: join(dataDir, 'peers.json'),
        clock,
        logger: part('network'),
        ...(options.metrics && { metrics: options.metrics }),
      },
      this.#ports(),
    )
    const domain = { chainId: params.chainId, genesisHash }
    this.evidence = new EvidenceRelay({
      evidencePool,
      committees: council,
      isSigned: createSignatureVerifier(domain, recoverAddress, CONSENSUS_LIMITS.cachedSignatures).isSigned,
      network: this.network.evidence,
      logger: part('consensus'),
    })
    const { proofPool: pool } = options
    this.#proofs = createProofRelay({ pool, network: this.network.proofs, clock, logger: part('powchain') })
  }

  /** URL for peers; with a wildcard address and no advertised one, that of the loopback. undefined: it accepts no peers. */
  get url(): string | undefined {
    const { id, url, listening } = this.network.self()
    if (url !== null || listening === null) return url ?? undefined
    const { host, port } = listening
    return peerUrl({ id, host: isUnspecifiedAddress(host) ? '127.0.0.1' : host, port })
  }

  /** false: in sync with the peers. */
  get syncing(): SyncStatus | false {
    return this.#snapshotBootstrap?.status || (this.#sync?.status ?? false)
  }

  /** The peers, for this node's health. */
  get view(): PeersView {
    const { peerCount: count, foreignGenesis } = this.network
    const target = count === 0 ? undefined : this.#target()
    return { count, target, proven: this.#sync?.provenTarget, foreignGenesis: foreignGenesis ?? undefined }
  }

  /** Called once the engine runs. Throws the system's error of listening. */
  async start(engine: Pick<ConsensusEngine, 'catchUp' | 'giveUp'>): Promise<void> {
    const { params, genesisHash, chain, council, pool, signer, withSenders, part } = this.#options
    this.#giveUp = error => engine.giveUp(error)
    const head = () => chain.head()
    const sync = new BlockSync({
      network: this.network,
      engine,
      head,
      committees: council,
      isMember: () =>
        signer !== null && (council.committee(head().number + 1)?.members.includes(signer.address) ?? false),
      rules: {
        domain: { chainId: params.chainId, genesisHash },
        recover: recoverAddress,
        certificates: this.#options.options.verify === 'full' ? 'all' : 'tips',
      },
      withSenders,
      clock: steadyClock,
      logger: part('sync'),
    })
    this.#stops = [
      pool.onPending(transaction => this.network.announceTransactions([transaction])),
      chain.onCommitted(({ block }) => this.#announce(block)),
      chain.onCommitted(() => this.evidence.remind()),
      chain.onCommitted(() => this.#proofs.remind()),
    ]
    this.evidence.start()
    this.#proofs.start()
    await this.network.start()
    const followBlocks = () => {
      this.#sync = sync
      sync.start()
    }
    this.#snapshotBootstrap = this.#options.snapshots?.bootstrap(this.network)
    if (this.#snapshotBootstrap === undefined) followBlocks()
    else this.#snapshotBootstrap.start(followBlocks)
    this.#history = this.#options.snapshots?.history(this.network)
    this.#history?.start()
  }

  /** Called before the engine and the chain stop. */
  async stop(): Promise<void> {
    for (const stop of this.#stops) stop()
    this.evidence.stop()
    this.#proofs.stop()
    // Stops pending requests first, so that sync ends at once.
    const left = [this.#snapshotBootstrap?.stop(), this.#history?.stop(), this.#sync?.stop()]
    await this.network.stop()
    await Promise.all(left)
  }

  #target(): number | undefined {
    if (this.#sync !== undefined) return this.#sync.target
    const claims = this.network.peers().map(({ head }) => head.number)
    return syncTarget(claims, this.#options.chain.head().number)
  }

  #announce(block: Block): void {
    const { certificate } = this.#options.chain.head()
    // Peers have the blocks that this node imports during sync.
    if (certificate === null || this.syncing !== false) return
    const { number } = block.header
    this.network.announceBlock({ number, hash: block.hash, certificate, encode: () => encodeBlock(block) })
  }

  #onBlock({ block, ...announced }: Parameters<SyncPort['onBlock']>[0], from: string): void {
    if (block === undefined) this.#sync?.consider()
    else
      this.#sync?.pushed({ ...announced, block }, from).catch((error: unknown) => {
        this.#options.part('sync').error({ err: error, peer: from }, 'pushed block not handled')
      })
  }

  #ports(): NetworkPorts {
    const { chain, blocks, council, pool, codec } = this.#options
    const head = () => chain.head()
    const consider = () => this.#sync?.consider()
    return {
      chain: { head, earliest: () => blocks.earliest },
      members: membersPort(
        council,
        () => head().number,
        peer => this.#onKeyInUse(peer),
      ),
      blocks: codec,
      pool: poolPort(pool),
      serve: { ...servePort(blocks), ...this.#options.snapshots?.serve },
      sync: { onBlock: (announced, from) => this.#onBlock(announced, from), onHead: consider },
    }
  }

  #onKeyInUse(peer: string): void {
    const { signer } = this.#options
    if (signer === null) return
    this.#giveUp(new CodedError<KeyElsewhereError>({ code: 'KEY_IN_USE_ELSEWHERE', address: signer.address, peer }))
  }
}
