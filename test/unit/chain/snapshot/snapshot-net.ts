import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@tandem/base/clock.ts'
import { SnapshotFolder } from '../../../../src/chain/snapshot/store/snapshot-folder.ts'
import { writeSnapshot } from '../../../../src/chain/snapshot/store/write-snapshot.ts'
import { genesisRows } from '../../../../src/chain/snapshot/sync/genesis-rows.ts'
import type { SnapshotSyncOptions } from '../../../../src/chain/snapshot/sync/snapshot-selector.ts'
import { SnapshotSync } from '../../../../src/chain/snapshot/sync/snapshot-sync.ts'
import { startStagingWorker } from '../../../../src/chain/snapshot/workers.ts'
import { recoverAddress, sign } from '../../../../src/crypto/signature.ts'
import type { ServePort } from '../../../../src/network/messages/ports.ts'
import { type SnapshotManifest, snapshotId } from '../../../../src/network/wire/snapshot.ts'
import { servePort } from '../../../../src/node/network/serve-port.ts'
import { genesisSupply } from '../../../../src/rules/money/genesis-alloc.ts'
import { readCode } from '../../../../src/state/flat-tables.ts'
import { councilGenesis, validatorKey, validatorOf } from '../../../support/council-genesis.ts'
import { CouncilNet } from '../../../support/council-net.ts'
import { type NetNode, NetNodes, until } from '../../../support/network/net-node.ts'

export const CYCLE = 6
const VALIDATORS = 5

/** A content that a peer offers, and its chunks; undefined leaves a question without an answer for ever. */
export interface Offer {
  readonly manifest: SnapshotManifest
  readonly chunk: (index: number) => Promise<Uint8Array | undefined>
}

interface FollowOptions extends Partial<SnapshotSyncOptions> {
  /** Folder of an earlier run that goes on; a new one by default. */
  readonly storePath?: string
  readonly onSync?: (sync: SnapshotSync) => void
}

/** A chain of several validators with real seals, its snapshot, and peers that serve it over the loopback, honest or not. */
export class SnapshotNet {
  readonly net: CouncilNet
  readonly folder: SnapshotFolder
  readonly dir: string
  readonly nodes = new NetNodes()

  private constructor(net: CouncilNet, folder: SnapshotFolder, dir: string) {
    this.net = net
    this.folder = folder
    this.dir = dir
  }

  /** `live` lets the chain do what its records are to tell of; the snapshot is of block `number`, two cycles below the head. */
  static async open(number: number, live: (net: CouncilNet) => Promise<void>): Promise<SnapshotNet> {
    const params = { rewards: { cycleBlocks: CYCLE }, council: { openRegistration: true, inactiveBlocks: 2 * CYCLE } }
    const keys = new Map(Array.from({ length: 12 }, (_, index) => [validatorOf(index), validatorKey(index)]))
    const net = await CouncilNet.open(councilGenesis(VALIDATORS, params), 1, (member, digest) =>
      sign(digest, keys.get(member) as Uint8Array),
    )
    const dir = mkdtempSync(join(tmpdir(), 'tandem-snapshot-net-'))
    await live(net)
    await net.mineTo(number)
    await writeSnapshot(net.first.store, join(dir, 'snapshots'), number)
    await net.mineTo(number + 2 * CYCLE)
    return new SnapshotNet(net, await SnapshotFolder.open(join(dir, 'snapshots'), number), dir)
  }

  get honest(): Offer {
    return { manifest: this.folder.manifest, chunk: index => this.folder.chunk(index) }
  }

  /** A peer that has the chain, and offers this snapshot. */
  peer(offer: Offer, more: Partial<ServePort> = {}): Promise<NetNode> {
    const { blocks, store } = this.net.first
    const id = snapshotId(offer.manifest)
    return this.nodes.start({
      serve: {
        ...servePort(blocks),
        manifest: async () => offer.manifest,
        chunk: async (snapshot, index) => (snapshot === id ? offer.chunk(index) : undefined),
        codes: async hashes => hashes.map(hash => readCode(store, hash)),
        ...more,
      },
      head: () => this.net.first.chain.head(),
    })
  }

  /** A new node that takes a snapshot of these peers; answers what came of it, the reason for none, and the node. */
  async follow(
    peers: readonly NetNode[],
    { storePath = mkdtempSync(join(this.dir, 'staged-')), onSync, ...options }: FollowOptions = {},
  ) {
    const { genesis, first } = this.net
    const node = await this.nodes.start({ staticPeers: peers.map(({ address }) => address) })
    await until('peers', () => node.network.peerCount === peers.length)
    const identity = { params: genesis.params, foundation: genesis.foundation, genesisHash: first.genesisHash }
    const domain = { chainId: genesis.params.chainId, genesisHash: first.genesisHash }
    const staging = startStagingWorker(join(storePath, 'db'), identity)
    const { timestamp } = (await first.blocks.header(0))?.header ?? { timestamp: 0 }
    const sync = new SnapshotSync({
      network: node.network,
      staging,
      identity,
      genesis: {
        timestamp,
        validators: genesis.council.map(({ validator }) => validator),
        wei: genesisSupply(genesis),
        rows: await genesisRows(first.store, first.genesisHash),
      },
      checkpoint: undefined,
      rules: { domain, recover: recoverAddress },
      head: () => 0,
      // Genesis is old on this machine's clock.
      clock: { ...systemClock, nowMs: () => first.clock.ms + performance.now(), schedule: later },
      logger: node.log,
      ...options,
    })
    onSync?.(sync)
    try {
      const outcome = await sync.run()
      await staging.call('close')
      return { outcome, reason: sync.reason, node, storePath }
    } finally {
      await staging.close()
    }
  }

  async close(): Promise<void> {
    await this.nodes.stop()
    await this.net.close()
    rmSync(this.dir, { recursive: true, force: true })
  }

  /** Ids of the peers that a node banned. */
  banned(node: NetNode): readonly unknown[] {
    return node.log.lines.filter(({ message }) => message === 'peer banned').map(({ fields }) => fields['peer'])
  }
}

/** Pauses are of no interest here. */
const later = (_: number, action: () => void): (() => void) => {
  const timer = setTimeout(action, 5)
  return () => clearTimeout(timer)
}
