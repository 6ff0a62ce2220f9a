import type { WireProposal } from '../../../src/network/messages/consensus-messages.ts'
import { generateNodeKey, type NodeKey } from '../../../src/network/transport/node-key.ts'
import type { SigningDomain, Vote } from '../../../src/primitives/consensus/vote.ts'
import type { Testimony } from '../consensus/testimony.ts'
import { sleep } from '../node-process.ts'
import { RawPeer, type Said } from './raw-peer.ts'

const LISTEN_MS = 10
const AGAIN_MS = 100

/**
 * A peer that hears whatever nodes say on the consensus channels and says nothing but pong. The nodes take it for a relay (`--relays`
 * with its id), so each sends it its own statements and, since it says that it reaches nobody, passes on those of all others: what one
 * member tells only one other arrives here as well.
 */
export class Wiretap {
  readonly testimony: Testimony
  readonly #key: NodeKey = generateNodeKey()
  readonly #domain: SigningDomain
  readonly #peers = new Set<RawPeer>()
  #isOver = false
  #evidence = 0
  #messages = 0

  constructor(domain: SigningDomain, testimony: Testimony) {
    this.#domain = domain
    this.testimony = testimony
  }

  get id(): string {
    return this.#key.id
  }

  /** Proofs against validators that nodes passed on. */
  get evidence(): number {
    return this.#evidence
  }

  /** Signed messages heard, the same from several nodes counted each time. */
  get messages(): number {
    return this.#messages
  }

  /** Connections that stand. */
  get connections(): number {
    return this.#peers.size
  }

  /** Listens to the node at this port, over its restarts, until `close`. */
  async attach(port: number): Promise<void> {
    while (!this.#isOver) {
      const peer = await RawPeer.meet(port, {}, null, { key: this.#key, domain: this.#domain }).catch(() => undefined)
      if (peer !== undefined) await this.#listen(peer)
      await sleep(AGAIN_MS)
    }
  }

  close(): void {
    this.#isOver = true
    for (const peer of this.#peers) peer.close()
  }

  async #listen(peer: RawPeer): Promise<void> {
    this.#peers.add(peer)
    peer.send('links', [])
    for (let isOpen = true; isOpen; ) {
      await sleep(LISTEN_MS)
      isOpen = !peer.isClosed
      for (const said of peer.heard.splice(0)) this.#take(peer, said)
    }
    this.#peers.delete(peer)
  }

  #take(peer: RawPeer, { name, value, requestId }: Said): void {
    if (name === 'ping') {
      peer.send('pong', { head: { number: 0, hash: this.#domain.genesisHash }, earliest: 0 }, requestId)
    } else if (name === 'evidence') {
      this.#evidence++
    } else if (name === 'vote' || name === 'proposal') {
      this.#messages++
      this.testimony.hear(name === 'vote' ? (value as Vote) : (value as WireProposal).head)
    }
  }
}
