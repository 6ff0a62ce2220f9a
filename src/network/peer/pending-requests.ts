import { CodedError } from '@tandem/base/errors.ts'
import type { TokenBucket } from '@tandem/base/token-bucket.ts'
import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import type { RequestError } from '../core/errors.ts'
import { ANSWER_NAMES, type MessageName, type RequestName } from '../messages/messages.ts'

interface Open {
  readonly name: RequestName
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: Error) => void
  /** Until the request is sent, then until its response is late. */
  timer: NodeJS.Timeout
}

const fail = (code: RequestError['code'], request: string) => new CodedError<RequestError>({ code, request })

/** Number of timed-out requests whose late responses are tolerated. */
const REMEMBERED = 64

/** Requests to one peer that wait for their responses. */
export class PendingRequests {
  readonly #open = new Map<number, Open>()
  /** Requests that timed out; a late response to them is not an offence. */
  readonly #late: number[] = []
  #lastId = 0

  get size(): number {
    return this.#open.size
  }

  /** `send` receives the id, at once or when the pace allows it. Rejects with PEER_BUSY, REQUEST_TIMEOUT or PEER_GONE. */
  ask(name: RequestName, pace: TokenBucket, send: (id: number) => void): Promise<unknown> {
    if (this.#open.size >= NETWORK_LIMITS.requests) return Promise.reject(fail('PEER_BUSY', name))
    this.#lastId = (this.#lastId % 0xffffffff) + 1
    const id = this.#lastId
    const waitMs = pace.waitMs(performance.now())
    pace.charge(performance.now(), 1)
    return new Promise((resolve, reject) => {
      const begin = () => {
        open.timer = setTimeout(() => this.#expire(id, open), NETWORK_LIMITS.requestMs)
        send(id)
      }
      const open: Open = { name, resolve, reject, timer: setTimeout(begin, waitMs) }
      this.#open.set(id, open)
      if (waitMs > 0) return
      clearTimeout(open.timer)
      begin()
    })
  }

  #expire(id: number, { name, reject }: Open): void {
    this.#open.delete(id)
    this.#late.push(id)
    if (this.#late.length > REMEMBERED) this.#late.shift()
    reject(fail('REQUEST_TIMEOUT', name))
  }

  /** Called when a response begins, which has as long again then. Tells whether such a one is expected; a late one is tolerated once. */
  begins(id: number, answer: MessageName): 'expected' | 'late' | 'unknown' {
    const open = this.#open.get(id)
    if (open !== undefined && ANSWER_NAMES[open.name] === answer) {
      open.timer.refresh()
      return 'expected'
    }
    const late = this.#late.indexOf(id)
    if (late < 0) return 'unknown'
    this.#late.splice(late, 1)
    return 'late'
  }

  settle(id: number, answer: unknown): void {
    const open = this.#open.get(id)
    if (open === undefined) return
    this.#open.delete(id)
    clearTimeout(open.timer)
    open.resolve(answer)
  }

  close(): void {
    for (const { name, reject, timer } of this.#open.values()) {
      clearTimeout(timer)
      reject(fail('PEER_GONE', name))
    }
    this.#open.clear()
  }
}
