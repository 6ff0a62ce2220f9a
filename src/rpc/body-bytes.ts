import { LIMITS } from '../config/limits.ts'

/** What a client reads, or hears as the reason of a close, when its body finds no room. */
export const BODIES_FULL = 'too many bytes of requests are under way, try again later'

/** Bytes of all bodies of a server that arrive or are being answered. */
export class BodyBytes {
  readonly #limitBytes: number
  #heldBytes = 0

  constructor(limitBytes: number = LIMITS.rpc.bodiesBytes) {
    this.#limitBytes = limitBytes
  }

  get heldBytes(): number {
    return this.#heldBytes
  }

  /** Of one connection, or one request. */
  meter(): BodyMeter {
    let counted = 0
    return {
      hold: bytes => {
        // A small body is always taken: whoever fills the rest does not shut out everybody else's calls.
        const wanted = Math.max(0, bytes - LIMITS.rpc.smallBodyBytes)
        if (wanted > counted && this.#heldBytes + wanted - counted > this.#limitBytes) return false
        this.#heldBytes += wanted - counted
        counted = wanted
        return true
      },
    }
  }
}

export interface BodyMeter {
  /** Says how many bytes are held now, all in all; false when there is no room for so many, and nothing changes. 0 gives all back. */
  hold(bytes: number): boolean
}
