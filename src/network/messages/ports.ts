import type { Hex } from '@tandem/base/bytes.ts'
import type { BlockCodec } from '../../primitives/block.ts'
import type { PeerId } from '../../primitives/peer-id.ts'
import type { SnapshotManifest } from '../wire/snapshot.ts'
import type { SealedBlock } from './consensus-messages.ts'
import type { PeerHead } from './control-messages.ts'
import type { BlockAnnouncement, BlockRange } from './sync-messages.ts'

export interface ChainPort {
  head(): PeerHead
  /** Returns the first block whose body can still be served. */
  earliest(): number
}

/** Membership of the consensus channels. */
export interface MembersPort {
  /** Returns true when this address is in the council of the open height or its neighbours. Called for every message: a set lookup. */
  isMember(address: Hex): boolean
  /** Returns member `index` of the committee of a height; undefined: not known. */
  memberAt(number: number, index: number): Hex | undefined
  /** Another node proved that it holds this node's own validator key: neither may continue. */
  onKeyInUse?(nodeId: PeerId): void
}

/** `invalid`: invalid on every node. `refused`: not accepted by this node now. */
export type PeerPoolVerdict = 'accepted' | 'known' | 'refused' | 'invalid'

/** Transaction pool, as the network uses it. */
export interface PeerPoolPort {
  has(hash: Hex): boolean
  /** Returns some executable transactions, for a peer that has just connected. */
  ready(limit: number): readonly Hex[]
  /** Returns the raw bytes of a pooled transaction. */
  raw(hash: Hex): Uint8Array | undefined
  /** Returns a verdict for each, in order. */
  receive(raws: readonly Uint8Array[]): Promise<readonly PeerPoolVerdict[]>
}

/** Data this node serves to peers. Each method returns at least one item when it has it, and stops near `maxBytes`. */
export interface ServePort {
  blocks(range: BlockRange, maxBytes: number): Promise<readonly SealedBlock[]>
  /** Returns the encoded receipts of each block, in order; ends at the first unknown one. */
  receipts(hashes: readonly Hex[], maxBytes: number): Promise<readonly Uint8Array[]>
  manifest?(): Promise<SnapshotManifest | null>
  /** `snapshot`: id of the snapshot (wire/snapshot.ts); undefined also for a snapshot that this node did not make. */
  chunk?(snapshot: Hex, index: number): Promise<Uint8Array | undefined>
  /** Returns codes in order; ends at the first unknown one. */
  codes?(hashes: readonly Hex[], maxBytes: number): Promise<readonly Uint8Array[]>
}

/** Block sync (implemented by chain). */
export interface SyncPort {
  /** A peer announced a final block; its certificate is not verified, and the body may be included. */
  onBlock(announcement: BlockAnnouncement & { readonly block?: Uint8Array }, from: PeerId): void
  /** A peer announced that its head moved. */
  onHead?(head: PeerHead, from: PeerId): void
}

export interface NetworkPorts {
  readonly chain: ChainPort
  readonly members: MembersPort
  readonly blocks: BlockCodec
  readonly pool: PeerPoolPort
  readonly serve: ServePort
  readonly sync?: SyncPort
}
