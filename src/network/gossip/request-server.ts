import { FairSemaphore } from '@tandem/base/async/fair-semaphore.ts'
import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import { ANSWER_NAMES, type AnswerName, type Payload, type RequestName } from '../messages/messages.ts'
import type { ServePort } from '../messages/ports.ts'
import type { Peer } from '../peer/peer.ts'
import type { PeerSet } from '../peer/peer-set.ts'

/** Handlers of requests; the network handles ping itself. */
type RequestHandlers = {
  readonly [Name in RequestName]: (peer: Peer, question: Payload<Name>) => AnswerName<Name> | Promise<AnswerName<Name>>
}

/** Empty responses, sent when a peer requests too much at once or reads too slowly, so that it tries another peer instead of waiting. */
const NOTHING: { readonly [Name in RequestName]?: AnswerName<Name> } = {
  getRecords: [],
  getBlocks: [],
  getReceipts: [],
  getManifest: null,
  getChunk: new Uint8Array(0),
  getCodes: [],
  getTransactions: [],
}

export const storeRequestHandlers = (
  serve: ServePort,
): Pick<RequestHandlers, 'getBlocks' | 'getReceipts' | 'getManifest' | 'getChunk' | 'getCodes'> => ({
  getBlocks: (_, range) => serve.blocks(range, NETWORK_LIMITS.answerBytes),
  getReceipts: (_, hashes) => serve.receipts(hashes, NETWORK_LIMITS.answerBytes),
  getManifest: () => serve.manifest?.() ?? null,
  getChunk: async (_, { snapshot, index }) => (await serve.chunk?.(snapshot, index)) ?? new Uint8Array(0),
  getCodes: async (_, hashes) => (await serve.codes?.(hashes, NETWORK_LIMITS.answerBytes)) ?? [],
})

/** Serves requests of peers, a few of each at a time, and a few of all strangers. */
export class RequestServer {
  readonly #hub: PeerSet
  readonly #requestHandlers: RequestHandlers
  /** Requests of strangers, of which each peer has few. */
  readonly #strangers = new FairSemaphore(
    { total: NETWORK_LIMITS.strangersServed, client: NETWORK_LIMITS.serving },
    () => new Error('too many requests'),
  )

  constructor(hub: PeerSet, requestHandlers: RequestHandlers) {
    this.#hub = hub
    this.#requestHandlers = requestHandlers
  }

  /** Sends an empty response when the handler fails, then rejects with its error. */
  async received(peer: Peer, name: RequestName, question: unknown, requestId: number): Promise<void> {
    const nothing = NOTHING[name]
    const isTooMuch = peer.serving >= NETWORK_LIMITS.serving || peer.queuedBytes('sync') > NETWORK_LIMITS.answerBytes
    if (isTooMuch && nothing !== undefined) {
      peer.send(ANSWER_NAMES[name], nothing, requestId)
      return
    }
    peer.serving++
    const takesTurn = nothing !== undefined && peer.place !== 'reserved'
    let release: (() => void) | undefined
    try {
      if (takesTurn) release = await this.#strangers.acquire(peer.id)
      const answerer = this.#requestHandlers[name] as (peer: Peer, question: unknown) => unknown
      if (this.#hub.peer(peer.id) === peer)
        peer.send(ANSWER_NAMES[name], (await answerer(peer, question)) as never, requestId)
    } catch (error) {
      if (nothing !== undefined) peer.send(ANSWER_NAMES[name], nothing, requestId)
      throw error
    } finally {
      peer.serving--
      release?.()
      this.#relieve()
    }
  }

  /** Disconnects strangers that take nothing while the responses to all of them fill the limit. */
  #relieve(): void {
    for (;;) {
      const strangers = this.#hub.peers().filter(({ place }) => place !== 'reserved')
      const bytes = strangers.reduce(
        (sum, peer) => sum + peer.queuedBytes('sync') + peer.queuedBytes('transactions'),
        0,
      )
      if (bytes <= NETWORK_LIMITS.untakenBytes) return
      const [stuck] = strangers
        .filter(({ blockedSinceMs }) => blockedSinceMs !== null)
        .sort((a, b) => (a.blockedSinceMs ?? 0) - (b.blockedSinceMs ?? 0))
      if (stuck === undefined) return
      stuck.close('overloaded', 'it takes nothing that is sent')
    }
  }
}
