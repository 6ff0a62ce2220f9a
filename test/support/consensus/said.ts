import type { ConsensusMessage, SignedMessage } from '../../../src/primitives/consensus/message.ts'

/** Messages of a member; detects two different ones where one is allowed. */
export class Said {
  readonly #texts = new Map<string, string>()
  readonly contradictions: string[] = []
  #locked = new Map<number, number>()

  add(message: ConsensusMessage): void {
    if (message.type === 'status' || message.type === 'body' || message.type === 'decided') return
    const place = `${message.type} ${message.number} ${message.round}`
    const text = textOf(message)
    const before = this.#texts.get(place)
    if (before !== undefined && before !== text) this.contradictions.push(`${place}: ${before}, then ${text}`)
    this.#texts.set(place, text)
    this.#checkLock(message)
  }

  get size(): number {
    return this.#texts.size
  }

  #checkLock(message: SignedMessage): void {
    const locked = this.#locked.get(message.number) ?? -1
    if (message.type === 'commit') this.#locked.set(message.number, Math.max(locked, message.round))
    if (message.type === 'roundChange' && message.round > locked && (message.prepared?.round ?? -1) < locked) {
      this.contradictions.push(`round change ${message.number} ${message.round} forgets the commit of round ${locked}`)
    }
  }
}

const textOf = (message: SignedMessage): string => {
  if (message.type === 'proposal') return message.block.hash
  if (message.type === 'roundChange') return `${message.prepared?.round} ${message.prepared?.blockHash}`
  return message.blockHash
}
