import { getOrMake } from '@tandem/base/get-or-make.ts'
import type { SignedMessage } from '../../../primitives/consensus/message.ts'

/** Fields that identify a message among others. */
type Placed = Pick<SignedMessage, 'type' | 'number' | 'round' | 'sender'>

type FutureLimits = Readonly<Record<'futureHeights' | 'futureRounds' | 'bufferedMessages' | 'heldBlocks', number>>

/** Messages of later heights: one per sender, kind, height and round, the highest round change, proposals of the next height alone. */
export class FutureBuffer {
  readonly #heights = new Map<number, Map<string, SignedMessage>>()
  readonly #limits: FutureLimits
  #size = 0

  constructor(limits: FutureLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#size
  }

  /** Adds a message of a height above `current`, within the limits. */
  add(message: SignedMessage, current: number): void {
    if (!this.#isWanted(message, current)) return
    const messages = this.#messagesOf(message.number)
    const key = slotOf(message)
    const known = messages.get(key)
    if (known !== undefined) {
      if (message.type === 'roundChange' && message.round > known.round) messages.set(key, message)
      return
    }
    if (this.#size >= this.#limits.bufferedMessages && !this.#evictBeyond(message.number)) return
    messages.set(key, message)
    this.#size++
  }

  /** Returns true when a message received now would be kept, if there is room. */
  wants(message: Placed, current: number): boolean {
    return this.#isWanted(message, current) && !this.#heights.get(message.number)?.has(slotOf(message))
  }

  sendersAbove(number: number): ReadonlySet<number> {
    const senders = new Set<number>()
    for (const [height, messages] of this.#heights) {
      if (height > number) for (const message of messages.values()) senders.add(message.sender)
    }
    return senders
  }

  /** Removes and returns the messages of a height, and drops those of all lower heights. */
  take(number: number): readonly SignedMessage[] {
    const taken = [...(this.#heights.get(number)?.values() ?? [])]
    for (const height of [...this.#heights.keys()]) if (height <= number) this.#drop(height)
    return taken
  }

  #isWanted(message: Placed, current: number): boolean {
    if (message.number <= current || message.number > current + this.#limits.futureHeights) return false
    if (message.type === 'roundChange') return true
    if (message.round > this.#limits.futureRounds) return false
    return (
      message.type !== 'proposal' ||
      (message.number === current + 1 && this.#bodies(message.number) < this.#limits.heldBlocks)
    )
  }

  #bodies(number: number): number {
    let count = 0
    for (const message of this.#heights.get(number)?.values() ?? []) if (message.type === 'proposal') count++
    return count
  }

  #messagesOf(number: number): Map<string, SignedMessage> {
    return getOrMake(this.#heights, number, () => new Map())
  }

  #evictBeyond(number: number): boolean {
    const farthest = Math.max(...this.#heights.keys())
    if (farthest <= number) return false
    this.#drop(farthest)
    return true
  }

  #drop(height: number): void {
    this.#size -= this.#heights.get(height)?.size ?? 0
    this.#heights.delete(height)
  }
}

const slotOf = (message: Placed): string =>
  message.type === 'roundChange'
    ? `roundChange:${message.sender}`
    : `${message.type}:${message.round}:${message.sender}`
