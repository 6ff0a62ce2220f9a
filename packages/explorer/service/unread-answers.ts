import { Readable } from 'node:stream'
import { StallTimer } from '@tandem/base/async/stall-timer.ts'
import { ClientBudget } from '@tandem/base/client-budget.ts'
import { endConnection } from '@tandem/web/end-connection.ts'
import type { FastifyReply } from 'fastify'
import { EXPLORER_LIMITS } from '../limits.ts'

export interface UnreadLimits {
  readonly total: number
  readonly client: number
  readonly free: number
  readonly pieceBytes: number
  readonly stallMs: number
  readonly bytesPerMs: number
}

/** Answers that clients have not read whole: what they hold, of all and of each client, and for how long. */
export class UnreadAnswers {
  readonly #limits: UnreadLimits
  readonly #budget: ClientBudget

  constructor(limits: UnreadLimits = EXPLORER_LIMITS.unread) {
    this.#limits = limits
    this.#budget = new ClientBudget({ total: limits.total, client: limits.client })
  }

  hasRoom(client: string, bytes: number): boolean {
    return bytes <= this.#limits.free || this.#budget.hasRoom(client, bytes)
  }

  /** Sends a body for which there is room, as its reader takes it, who is dropped when it takes nothing for a while. */
  send(reply: FastifyReply, client: string, body: Buffer): FastifyReply {
    if (body.byteLength <= this.#limits.free) return reply.send(body)
    const meter = this.#budget.meter(client)
    meter.hold(body.byteLength)
    const { raw } = reply
    const stall = new StallTimer(
      this.#limits,
      () => endConnection(raw),
      () => raw.socket === null,
    )
    stall.wait()
    raw.once('close', () => {
      stall.stop()
      meter.hold(0)
    })
    return reply.header('content-length', body.byteLength).send(Readable.from(this.#pieces(body, stall)))
  }

  *#pieces(body: Buffer, stall: StallTimer): Generator<Buffer> {
    const { pieceBytes } = this.#limits
    for (let at = 0; at < body.byteLength; at += pieceBytes) {
      yield body.subarray(at, at + pieceBytes)
      stall.stop()
      stall.count(pieceBytes)
      stall.wait()
    }
  }
}
