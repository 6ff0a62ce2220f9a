import { LIMITS } from '../../config/limits.ts'
import { type CodedError, isCoded } from '../../util/errors.ts'
import type { Logger } from '../../util/logger.ts'
import { Lru } from '../../util/lru.ts'
import type { Offence } from '../core/peer-scores.ts'
import { TokenBucket } from '../core/token-bucket.ts'
import type { Peer } from './peer.ts'

/** Refusals of decoders and of the reader: bytes that are not of the protocol. */
const MALFORMED: ReadonlySet<string> = new Set([
  'FRAME_INVALID',
  'PROTOCOL_BROKEN',
  'MESSAGE_MALFORMED',
  'BLOCK_MALFORMED',
])

const isMalformed = (error: unknown): error is CodedError => isCoded(error) && MALFORMED.has(error.code)

/**
 * Boundary around the handlers of peers' messages. An exception, thrown at once or later, costs the peer and never the process.
 * Anything but a refusal of malformed bytes is a fault of this node and is logged: once a minute for each peer, and at a bounded rate.
 */
export class MessageBoundary {
  readonly #blame: (peer: Peer, offence: Offence, detail: string) => void
  readonly #logger: Logger
  /** When each peer was in the log last. */
  readonly #told = new Lru<string, number>(LIMITS.network.faultPeers)
  readonly #lines: TokenBucket
  #untold = 0

  constructor(blame: (peer: Peer, offence: Offence, detail: string) => void, logger: Logger) {
    this.#blame = blame
    this.#logger = logger
    this.#lines = new TokenBucket(LIMITS.network.faultLines, performance.now())
  }

  /** Runs the handler of a message; what it throws, or rejects with, ends here. */
  run(peer: Peer, message: string, work: () => unknown): void {
    try {
      const result = work()
      if (result instanceof Promise) result.catch((error: unknown) => this.failed(peer, message, error))
    } catch (error) {
      this.failed(peer, message, error)
    }
  }

  /** Puts an exception that came of a peer's message to the peer's account. */
  failed(peer: Peer, message: string, error: unknown): void {
    if (isMalformed(error)) this.#blame(peer, 'malformed', `${message}: ${error.message}`)
    else {
      this.tell(peer.id, message, error)
      // What this node expects to fail of its own (a damaged row, an engine that stopped) is nobody else's fault.
      if (!isCoded(error)) this.#blame(peer, 'fault', message)
    }
  }

  /** Logs a fault of this node that a peer's bytes brought about. */
  tell(peer: string, message: string, error: unknown): void {
    const nowMs = performance.now()
    const isTold = nowMs - (this.#told.get(peer) ?? Number.NEGATIVE_INFINITY) < LIMITS.network.faultAgainMs
    if (isTold || !this.#lines.take(nowMs)) {
      this.#untold++
      return
    }
    this.#told.set(peer, nowMs)
    this.#logger.error({ err: error, peer, message, untold: this.#untold }, 'message of a peer not handled')
    this.#untold = 0
  }
}
