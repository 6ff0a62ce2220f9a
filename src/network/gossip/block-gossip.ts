import { shuffled } from '@tandem/base/random.ts'
import { BLOCK_BOUNDS } from '../../config/protocol-bounds.ts'
import { decodeBlockHeader } from '../../primitives/block.ts'
import { pushTargetCount } from '../core/peer-slots.ts'
import type { SealedBlock } from '../messages/consensus-messages.ts'
import type { PeerHead } from '../messages/control-messages.ts'
import type { SyncPort } from '../messages/ports.ts'
import type { BlockAnnouncement } from '../messages/sync-messages.ts'
import { encodeWireMessage, type Peer } from '../peer/peer.ts'
import type { PeerSet } from '../peer/peer-set.ts'

/** Block this node has committed. */
export interface CommittedBlock extends BlockAnnouncement {
  /** Returns its RLP; called when a peer gets the whole block. */
  encode(): Uint8Array
}

/**
 * Creates the gossip of committed blocks: hash and certificate to all, whole to the square root of non-members; members have consensus.
 */
export const createBlockGossip = (hub: PeerSet, sync: SyncPort | undefined) => {
  const note = (peer: Peer, { number, hash }: PeerHead): void => {
    peer.items.set(hash, true)
    if (number > peer.head.number) peer.head = { number, hash }
  }
  return {
    announce(committed: CommittedBlock): void {
      const { number, hash, certificate } = committed
      const lacking = hub.peers().filter(peer => !peer.items.has(hash))
      const nonMembers = lacking.filter(peer => !hub.isNeighbour(peer))
      const whole = new Set(shuffled(nonMembers, () => hub.random()).slice(0, pushTargetCount(nonMembers.length)))
      const name = encodeWireMessage('newBlockHash', { number, hash, certificate })
      const block =
        whole.size > 0 ? encodeWireMessage('newBlock', { block: committed.encode(), certificate }) : undefined
      for (const peer of lacking) {
        peer.items.set(hash, true)
        const isSent = block !== undefined && whole.has(peer) && peer.sendWire('newBlock', block)
        if (!isSent) peer.sendWire('newBlockHash', name)
      }
    },

    announced(peer: Peer, announcement: BlockAnnouncement): void {
      note(peer, announcement)
      sync?.onBlock(announcement, peer.id)
    },

    /** Throws BLOCK_MALFORMED when the block has no header. */
    pushed(peer: Peer, { block, certificate }: SealedBlock): void {
      const { header, hash } = decodeBlockHeader(block, BLOCK_BOUNDS.headerBytes)
      const head = { number: header.number, hash }
      note(peer, head)
      sync?.onBlock({ ...head, certificate, block }, peer.id)
    },

    /** Records a head that a peer announced. */
    headMoved(peer: Peer, head: PeerHead): void {
      if (head.number === peer.head.number && head.hash === peer.head.hash) return
      peer.head = head
      sync?.onHead?.(head, peer.id)
    },
  }
}
