import { CodedError, isCoded } from '@tandem/base/errors.ts'
import { shuffled } from '@tandem/base/random.ts'
import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import type { RequestError } from '../core/errors.ts'
import type { NetworkMetrics } from '../core/metrics.ts'
import type { AnswerName, Payload, RequestName } from '../messages/messages.ts'
import type { Peer } from './peer.ts'
import type { PeerSet } from './peer-set.ts'

export interface RequestOptions<Name extends RequestName> {
  /** Peers that may have it; all when left out. */
  readonly among?: (peer: Peer) => boolean
  /**
   * Checks a response. `empty`: the peer does not have it; `false`: not a response to this request, which lowers the peer's score. Both
   * lead to another peer. With several requests under way a peer may return some empty because it is busy; `isAlone`: this was the only
   * one.
   */
  readonly validate?: (answer: AnswerName<Name>, isAlone: boolean) => AnswerVerdict
  /** Called for each peer that is tried, and then with the outcome. */
  readonly watch?: (peer: string, event: RequestEvent) => void
}

type AnswerVerdict = 'good' | 'empty' | 'false'
/** `gone`: the peer left before it got the request. */
export type RequestEvent = 'asked' | AnswerVerdict | 'timeout' | 'gone'

export interface PeerAnswer<Name extends RequestName> {
  readonly answer: AnswerName<Name>
  readonly from: string
}

/** Peers that may be asked. */
type RequestHub = Pick<PeerSet, 'peers' | 'blame' | 'random'>

/** Tries peers in turn until one responds, with fewer requests than a peer serves at once: the rest is for pings and the pool. */
export class Requester {
  readonly #hub: RequestHub
  readonly #metrics: NetworkMetrics | undefined

  constructor(hub: RequestHub, metrics: NetworkMetrics | undefined) {
    this.#hub = hub
    this.#metrics = metrics
  }

  /** Rejects with NO_PEER when none has it, or with the last failure: CodedError<RequestError>. */
  async ask<Name extends RequestName>(
    name: Name,
    value: Payload<Name>,
    { among, validate, watch }: RequestOptions<Name> = {},
  ): Promise<PeerAnswer<Name>> {
    const tried = new Set<string>()
    let failure: unknown = new CodedError<RequestError>({ code: 'NO_PEER', request: name })
    for (let attempt = 0; attempt < NETWORK_LIMITS.attempts; attempt++) {
      const peer = this.#next(tried, among)
      if (peer === undefined) break
      tried.add(peer.id)
      const isAlone = peer.requests === 0
      watch?.(peer.id, 'asked')
      try {
        const answer = await peer.request(name, value)
        const answerVerdict = validate?.(answer, isAlone) ?? 'good'
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

  /** Returns the least busy of the eligible peers, random among equals. */
  #next(tried: ReadonlySet<string>, among: RequestOptions<RequestName>['among'] = () => true): Peer | undefined {
    const { serving } = NETWORK_LIMITS
    const left = this.#hub.peers().filter(peer => !tried.has(peer.id) && peer.requests < serving && among(peer))
    return shuffled(left, () => this.#hub.random()).sort((a, b) => a.requests - b.requests)[0]
  }
}
