import { EVMError, type ExecResult } from '@ethereumjs/evm'
import type { PrefixedHexString } from '@ethereumjs/util'

/** A log as EthereumJS has it: address, topics, data. */
export type RawLog = [Uint8Array, Uint8Array[], Uint8Array]

/** A set that forgets what was added after a mark. EthereumJS uses it as a Map of beneficiaries and as a Set of addresses. */
export class UndoSet {
  readonly #members = new Set<string>()
  readonly #order: string[] = []

  get size(): number {
    return this.#order.length
  }

  has(member: string): boolean {
    return this.#members.has(member)
  }

  add(member: string): void {
    if (this.#members.has(member)) return
    this.#members.add(member)
    this.#order.push(member)
  }

  set(member: string): void {
    this.add(member)
  }

  truncate(size: number): void {
    for (let i = this.#order.length - 1; i >= size; i--) this.#members.delete(this.#order[i] as string)
    this.#order.length = size
  }

  /** In the order in which they were added. */
  values(): readonly string[] {
    return this.#order
  }
}

export interface EffectsMark {
  readonly logs: number
  readonly destroyed: number
  readonly created: number
}

export const NOTHING_DONE: EffectsMark = { logs: 0, destroyed: 0, created: 0 }

/** Whether a frame leaves nothing. Frontier lets a creation stand whose code could not be paid for. */
export const isFailed = ({ exceptionError }: ExecResult): boolean =>
  exceptionError !== undefined && exceptionError.error !== EVMError.errorMessages.CODESTORE_OUT_OF_GAS

/**
 * Logs, self-destructs and created accounts of one message. All of its frames write into the same lists; a frame that fails cuts them
 * back to where they stood when it began, so that a frame costs what it does and not what was done before it.
 */
export class MessageEffects {
  readonly logs: RawLog[] = []
  readonly destroyed = new UndoSet()
  readonly created = new UndoSet()

  mark(): EffectsMark {
    return { logs: this.logs.length, destroyed: this.destroyed.size, created: this.created.size }
  }

  revert({ logs, destroyed, created }: EffectsMark): void {
    this.logs.length = logs
    this.destroyed.truncate(destroyed)
    this.created.truncate(created)
  }
}

/** The lists under EthereumJS' names and types for them; it uses no more than an UndoSet has. */
export const asSets = ({ destroyed, created }: MessageEffects) => ({
  selfdestruct: destroyed as unknown as Map<PrefixedHexString, PrefixedHexString>,
  createdAddresses: created as unknown as Set<PrefixedHexString>,
})
