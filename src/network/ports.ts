import type { BlockClaim } from '../primitives/block-claim.ts'
import type { BlockCodec } from '../primitives/block-codec.ts'
import type { MessageAcceptance } from '../primitives/consensus/acceptance.ts'
import type { ConsensusMessage } from '../primitives/consensus/message.ts'
import type { PeerId } from '../primitives/peer-id.ts'
import type { Hex } from '../util/bytes.ts'
import type { SealedBlock } from './wire/consensus.ts'
import type { PeerHead } from './wire/control.ts'
import type { SnapshotManifest } from './wire/snapshot.ts'
import type { BlockAnnouncement, BlockRange } from './wire/sync.ts'

export interface ChainPort {
  head(): PeerHead
  /** The first block whose body can still be answered. */
  earliest(): number
}

/** Who may speak on the consensus channels. */
export interface MembersPort {
  /** Whether this address is in the council of the open height, or of one before or after it. Asked for every message: a look into a set. */
  isMember(address: Hex): boolean
  /** Member `index` of the committee of a height; undefined: not known. */
  memberAt(number: number, index: number): Hex | undefined
  /** Another node proved that it holds this node's own validator key: neither may go on. */
  onKeyInUse?(nodeId: PeerId): void
}

/** `invalid`: no node could take it for valid. `refused`: this one does not want it now. */
export type PeerPoolVerdict = 'accepted' | 'known' | 'refused' | 'invalid'

/** The transaction pool. */
export interface PeerPoolPort {
  has(hash: Hex): boolean
  /** Some that are ready for a block, for a peer that has just come. */
  ready(limit: number): readonly Hex[]
  /** The raw bytes of a pooled transaction. */
  raw(hash: Hex): Uint8Array | undefined
  /** A verdict for each, in order. */
  receive(raws: readonly Uint8Array[]): Promise<readonly PeerPoolVerdict[]>
}

/** What this node answers others with. Each answers at least one item when it has it, and stops near `maxBytes`. */
export interface ServePort {
  blocks(range: BlockRange, maxBytes: number): Promise<readonly SealedBlock[]>
  /** Encoded receipts of each block, in order; ends at the first unknown one. */
  receipts(hashes: readonly Hex[], maxBytes: number): Promise<readonly Uint8Array[]>
  manifest?(): Promise<SnapshotManifest | null>
  /** `snapshot`: name of the content (wire/snapshot.ts); undefined also for one that this node did not cut itself. */
  chunk?(snapshot: Hex, index: number): Promise<Uint8Array | undefined>
  /** In order; ends at the first unknown one. */
  codes?(hashes: readonly Hex[], maxBytes: number): Promise<readonly Uint8Array[]>
}

/** Whoever keeps this node in step (chain). */
export interface SyncPort {
  /** A peer says that this block is final; its certificate is not checked, its body may be with it. */
  onBlock(announcement: BlockAnnouncement & { readonly block?: Uint8Array }, from: PeerId): void
  /** A peer's head moved, by its own word. */
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

/**
 * The consensus channels, as consensus asks for them (its NetworkPort). What a listener answers decides whether a message is passed on
 * to members that its author does not reach; without an answer it is not.
 */
export interface ConsensusNetwork {
  broadcast(message: ConsensusMessage): void
  send(peer: PeerId, message: ConsensusMessage): void
  /** `judgeClaim` is asked before the body of a block is read; without it every block is decoded. */
  onMessage(
    // biome-ignore lint/suspicious/noConfusingVoidType: a listener may answer nothing.
    listener: (message: ConsensusMessage, from: PeerId) => MessageAcceptance | void,
    judgeClaim?: (claim: BlockClaim, from: PeerId) => MessageAcceptance,
  ): () => void
  /** How many of these validators, this one left out, are neighbours or neighbours of one. */
  reachable(members: readonly Hex[]): number
  /** What this neighbour sent can only be a lie or a fault of its own. */
  misbehaved(peer: PeerId): void
}

/** Proofs against validators among all nodes, encoded; whoever finds one true passes it on (EvidenceNetworkPort of consensus). */
export interface EvidenceNetwork {
  broadcast(encoded: Uint8Array): void
  onEvidence(listener: (encoded: Uint8Array, from: PeerId) => void): () => void
  misbehaved(peer: PeerId): void
}
