import { FairSemaphore } from '@tandem/base/async/fair-semaphore.ts'
import { EMPTY_BYTES } from '@tandem/base/bytes.ts'
import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import { ANSWER_NAMES, type AnswerName, type Payload, type RequestName } from '../messages/messages.ts'
import type { Peer } from '../peer/peer.ts'
import type { PeerSet } from '../peer/peer-set.ts'

type RequestHandlers = {
  readonly [Name in RequestName]: (peer: Peer, question: Payload<Name>) => AnswerName<Name> | Promise<AnswerName<Name>>
}

/** Empty responses, sent when a peer requests too much at once or reads too slowly, so that it tries another peer instead of waiting. */
const NOTHING: { readonly [Name in RequestName]?: AnswerName<Name> } = {
  getRecords: [],
  getBlocks: [],
  getReceipts: [],
  getManifest: null,
  getChunk: EMPTY_BYTES,
  getCodes: [],
  getTransactions: [],
}

/** Disconnects strangers that take nothing while the responses to all of them fill the limit. */
const relieve = (hub: PeerSet): void => {
  for (;;) {
    const strangers = hub.peers().filter(({ place }) => place !== 'reserved')
    const bytes = strangers.reduce((sum, peer) => sum + peer.queuedBytes('sync') + peer.queuedBytes('transactions'), 0)
    if (bytes <= NETWORK_LIMITS.untakenBytes) return
    const [stuck] = strangers
      .filter(({ blockedSinceMs }) => blockedSinceMs !== null)
      .sort((a, b) => (a.blockedSinceMs ?? 0) - (b.blockedSinceMs ?? 0))
    if (stuck === undefined) return
    stuck.close('overloaded', 'it takes nothing that is sent')
  }
}

/**
 * Creates the server of peers' requests: a few of each at a time, and a few of all strangers. It sends an empty response when the handler
 * fails, then rejects with its error.
 */
export const createRequestServer = (hub: PeerSet, handlers: RequestHandlers) => {
  /** Requests of strangers, of which each peer has few. */
  const strangers = new FairSemaphore(
    { total: NETWORK_LIMITS.strangersServed, client: NETWORK_LIMITS.serving },
    () => new Error('too many requests'),
  )
  return async (peer: Peer, name: RequestName, question: unknown, requestId: number): Promise<void> => {
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
      if (takesTurn) release = await strangers.acquire(peer.id)
      const answerer = handlers[name] as (peer: Peer, question: unknown) => unknown
      if (hub.peer(peer.id) === peer)
        peer.send(ANSWER_NAMES[name], (await answerer(peer, question)) as never, requestId)
    } catch (error) {
      if (nothing !== undefined) peer.send(ANSWER_NAMES[name], nothing, requestId)
      throw error
    } finally {
      peer.serving--
      release?.()
      relieve(hub)
    }
  }
}
