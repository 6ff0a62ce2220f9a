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

type PeerRequest = <Name extends RequestName>(
  name: Name,
  value: Payload<Name>,
  options?: RequestOptions<Name>,
) => Promise<PeerAnswer<Name>>

/**
 * Creates a request that tries peers in turn until one responds, with fewer requests than a peer serves at once: the rest is for pings and
 * the pool. Rejects with NO_PEER when none has it, or with the last failure: CodedError<RequestError>.
 */
export const createPeerRequest = (
  hub: Pick<PeerSet, 'peers' | 'blame' | 'random'>,
  metrics?: NetworkMetrics,
): PeerRequest => {
  /** Returns the least busy of the eligible peers, random among equals. */
  const next = (tried: ReadonlySet<string>, among: (peer: Peer) => boolean = () => true): Peer | undefined => {
    const { serving } = NETWORK_LIMITS
    const left = hub.peers().filter(peer => !tried.has(peer.id) && peer.requests < serving && among(peer))
    return shuffled(left, () => hub.random()).sort((a, b) => a.requests - b.requests)[0]
  }
  return async (name, value, { among, validate, watch } = {}) => {
    const tried = new Set<string>()
    let failure: unknown = new CodedError<RequestError>({ code: 'NO_PEER', request: name })
    for (let attempt = 0; attempt < NETWORK_LIMITS.attempts; attempt++) {
      const peer = next(tried, among)
      if (peer === undefined) break
      tried.add(peer.id)
      const isAlone = peer.requests === 0
      watch?.(peer.id, 'asked')
      try {
        const answer = await peer.request(name, value)
        const answerVerdict = validate?.(answer, isAlone) ?? 'good'
        watch?.(peer.id, answerVerdict)
        metrics?.requests.inc({ request: name, result: answerVerdict })
        if (answerVerdict === 'good') return { answer, from: peer.id }
        if (answerVerdict === 'false') hub.blame(peer, 'useless', name)
      } catch (error) {
        if (!isCoded(error)) throw error
        const isTimeout = error.code === 'REQUEST_TIMEOUT'
        watch?.(peer.id, isTimeout ? 'timeout' : 'gone')
        metrics?.requests.inc({ request: name, result: error.code })
        if (isTimeout) hub.blame(peer, 'timeout', name)
        failure = error
      }
    }
    throw failure
  }
}
