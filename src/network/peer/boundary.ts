import { type CodedError, isCoded } from '@tandem/base/errors.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { Lru } from '@tandem/base/lru.ts'
import { TokenBucket } from '@tandem/base/token-bucket.ts'
import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import type { Offence } from '../core/peer-scores.ts'
import type { Peer } from './peer.ts'

/** Errors of decoders and of the frame reader: bytes that violate the protocol. */
const MALFORMED: ReadonlySet<string> = new Set([
  'FRAME_INVALID',
  'PROTOCOL_BROKEN',
  'MESSAGE_MALFORMED',
  'BLOCK_MALFORMED',
])

/** True for a decoding error, which proves that the bytes violate the protocol. */
export const isMalformed = (error: unknown): error is CodedError => isCoded(error) && MALFORMED.has(error.code)

/**
 * Boundary around the handlers of peers' messages. An exception, synchronous or not, affects the peer's score and never the process.
 * Any exception but a decoding error is a fault of this node and is logged: once a minute per peer, and at a bounded rate.
 */
export class MessageBoundary {
  readonly #blame: (peer: Peer, offence: Offence, detail: string) => void
  readonly #logger: Logger
  /** Time of the last log line about each peer. */
  readonly #reportedAt = new Lru<string, number>(NETWORK_LIMITS.faultPeers)
  readonly #logQuota: TokenBucket
  #suppressed = 0

  constructor(blame: (peer: Peer, offence: Offence, detail: string) => void, logger: Logger) {
    this.#blame = blame
    this.#logger = logger
    this.#logQuota = new TokenBucket(NETWORK_LIMITS.faultLines, performance.now())
  }

  /** Runs the handler of a message and handles its exception or rejection. */
  run(peer: Peer, message: string, work: () => unknown): void {
    try {
      const result = work()
      if (result instanceof Promise) result.catch((error: unknown) => this.failed(peer, message, error))
    } catch (error) {
      this.failed(peer, message, error)
    }
  }

  /** Handles an exception caused by a peer's message. */
  failed(peer: Peer, message: string, error: unknown): void {
    if (isMalformed(error)) this.#blame(peer, 'malformed', `${message}: ${error.message}`)
    else {
      this.report(peer.id, message, error)
      // Expected failures of this node (a damaged row, a stopped engine) do not affect the peer's score.
      if (!isCoded(error)) this.#blame(peer, 'fault', message)
    }
  }

  /** Logs a fault of this node caused by a peer's bytes. */
  report(peer: string, message: string, error: unknown): void {
    const nowMs = performance.now()
    const isReported = nowMs - (this.#reportedAt.get(peer) ?? Number.NEGATIVE_INFINITY) < NETWORK_LIMITS.faultAgainMs
    if (isReported || !this.#logQuota.take(nowMs)) {
      this.#suppressed++
      return
    }
    this.#reportedAt.set(peer, nowMs)
    this.#logger.error({ err: error, peer, message, suppressed: this.#suppressed }, 'message of a peer not handled')
    this.#suppressed = 0
  }
}
