import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import { ANSWER_NAMES, type AnswerName, type Payload, type RequestName } from '../messages.ts'
import type { Peer } from '../peer/peer.ts'
import type { ServePort } from '../ports.ts'

/** Handlers of requests; the network handles ping itself. */
type RequestHandlers = {
  readonly [Name in RequestName]: (peer: Peer, question: Payload<Name>) => AnswerName<Name> | Promise<AnswerName<Name>>
}

/**
 * Empty responses, sent when a peer requests too much at once or reads too slowly, so that it asks another peer instead
 * of waiting.
 */
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

/** Answers requests of peers, a few of each at a time. */
export class RequestServer {
  readonly #requestHandlers: RequestHandlers

  constructor(requestHandlers: RequestHandlers) {
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
    try {
      const answerer = this.#requestHandlers[name] as (peer: Peer, question: unknown) => unknown
      peer.send(ANSWER_NAMES[name], (await answerer(peer, question)) as never, requestId)
    } catch (error) {
      if (nothing !== undefined) peer.send(ANSWER_NAMES[name], nothing, requestId)
      throw error
    } finally {
      peer.serving--
    }
  }
}
