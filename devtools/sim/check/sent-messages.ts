import { asBuffer } from '@tandem/base/bytes.ts'
import type { SignedMessage } from '../../../src/primitives/consensus/message.ts'
import { describeMessage, short } from '../network/envelope.ts'
import type { Report } from './violation.ts'

/**
 * Messages of one member over all its processes: they must be durable before sending, never conflict, and never fall behind its
 * lock.
 */
export class SentMessages {
  readonly #node: number
  readonly #report: Report
  readonly #texts = new Map<string, string>()
  readonly #signatures = new Set<string>()
  /** Highest round committed, by height. */
  readonly #locks = new Map<number, number>()

  constructor(node: number, report: Report) {
    this.#node = node
    this.#report = report
  }

  /** Returns true when the message is sent for the first time. `isDurable` is called only then, since it searches a disk. */
  add(message: SignedMessage, isDurable: () => boolean): boolean {
    const signature = asBuffer(message.signature).toString('latin1')
    if (this.#signatures.has(signature)) return false
    this.#signatures.add(signature)
    this.#checkPlace(message)
    this.#checkLock(message)
    if (!isDurable()) this.#report('durability', `member ${this.#node} sent before it was logged: ${textOf(message)}`)
    return true
  }

  #checkPlace(message: SignedMessage): void {
    const place = `${message.type} ${message.number} ${message.round}`
    const text = textOf(message)
    const before = this.#texts.get(place)
    if (before !== undefined && before !== text)
      this.#report('equivocation', `member ${this.#node} said both: ${before}; ${text}`)
    this.#texts.set(place, text)
  }

  #checkLock(message: SignedMessage): void {
    const lock = this.#locks.get(message.number) ?? -1
    if (message.type === 'commit') this.#locks.set(message.number, Math.max(lock, message.round))
    if (message.type !== 'roundChange' || message.round <= lock || (message.prepared?.round ?? -1) >= lock) return
    this.#report('amnesia', `member ${this.#node} forgot its commit of round ${lock}: ${textOf(message)}`)
  }
}

/** Proposals that differ only in their justification are different. */
const textOf = (message: SignedMessage): string => {
  if (message.type !== 'proposal') return describeMessage(message)
  const basis = message.roundChanges.map(({ sender, prepared }) => `${sender}:${prepared?.round ?? '-'}`)
  return `${describeMessage(message)} on ${basis.join(' ')} [${short(message.block.header.parentHash)}]`
}
