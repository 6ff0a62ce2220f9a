import { LIMITS } from '../../config/limits.ts'
import { CodedError, isCoded } from '../../util/errors.ts'
import type { RequestError } from '../errors.ts'
import { type PeerHub, shuffled } from '../gossip/peer-hub.ts'
import type { AnswerName, Payload, RequestName } from '../messages.ts'
import type { NetworkMetrics } from '../metrics.ts'
import type { Peer } from './peer.ts'

export interface RequestOptions<Name extends RequestName> {
  /** Asked first. */
  readonly prefer?: string
  /** Who may have it; everybody when left out. */
  readonly among?: (peer: Peer) => boolean
  /**
   * `empty`: it does not have it; `false`: it is no answer to this, and costs the peer. Both try another one. Whoever has several
   * questions at once may answer some with nothing because it is busy; `isAlone`: this was the only one.
   */
  readonly judge?: (answer: AnswerName<Name>, isAlone: boolean) => AnswerVerdict
  /** Told of each peer that is asked, and then of what came of it. */
  readonly watch?: (peer: string, event: RequestEvent) => void
}

export type AnswerVerdict = 'good' | 'empty' | 'false'
/** `gone`: it could not be asked any more. */
export type RequestEvent = 'asked' | AnswerVerdict | 'timeout' | 'gone'

export interface PeerAnswer<Name extends RequestName> {
  readonly answer: AnswerName<Name>
  readonly from: string
}

/** Asks one peer after the other until one has an answer. Never more of one than it serves at once: the rest is for pings and the pool. */
export class Requester {
  readonly #hub: PeerHub
  readonly #metrics: NetworkMetrics | undefined

  constructor(hub: PeerHub, metrics: NetworkMetrics | undefined) {
    this.#hub = hub
    this.#metrics = metrics
  }

  /** Rejects with NO_PEER when none has it, or with the last failure: CodedError<RequestError>. */
  async ask<Name extends RequestName>(
    name: Name,
    value: Payload<Name>,
    { prefer, among, judge, watch }: RequestOptions<Name> = {},
  ): Promise<PeerAnswer<Name>> {
    const tried = new Set<string>()
    let failure: unknown = new CodedError<RequestError>({ code: 'NO_PEER', request: name })
    for (let attempt = 0; attempt < LIMITS.network.attempts; attempt++) {
      const peer = this.#next(tried, prefer, among)
      if (peer === undefined) break
      tried.add(peer.id)
      const isAlone = peer.requests === 0
      watch?.(peer.id, 'asked')
      try {
        const answer = await peer.request(name, value)
        const answerVerdict = judge?.(answer, isAlone) ?? 'good'
        watch?.(peer.id, answerVerdict)
        this.#metrics?.request(name, answerVerdict)
        if (answerVerdict === 'good') return { answer, from: peer.id }
        if (answerVerdict === 'false') this.#hub.blame(peer, 'useless', name)
      } catch (error) {
        if (!isCoded(error)) throw error
        const isTimeout = error.code === 'REQUEST_TIMEOUT'
        watch?.(peer.id, isTimeout ? 'timeout' : 'gone')
        this.#metrics?.request(name, error.code)
        if (isTimeout) this.#hub.blame(peer, 'timeout', name)
        failure = error
      }
    }
    throw failure
  }

  /** The least busy of those that may have it, by chance among equals. */
  #next(
    tried: ReadonlySet<string>,
    prefer: string | undefined,
    among: RequestOptions<RequestName>['among'],
  ): Peer | undefined {
    const left = this.#hub
      .peers()
      .filter(
        peer => !tried.has(peer.id) && peer.requests < LIMITS.network.serving && (among === undefined || among(peer)),
      )
    const preferred = left.find(({ id }) => id === prefer)
    return preferred ?? shuffled(left, () => this.#hub.random()).sort((a, b) => a.requests - b.requests)[0]
  }
}
