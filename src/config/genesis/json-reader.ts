import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import type { GenesisError } from './types.ts'

/** Value of a genesis file with its path, and strict readers for each kind of value. */
export class GenesisValue {
  readonly value: unknown
  readonly path: string

  constructor(value: unknown, path: string) {
    this.value = value
    this.path = path
  }

  static fromText(text: string): GenesisValue {
    try {
      return new GenesisValue(JSON.parse(text), '')
    } catch (error) {
      return new GenesisValue(undefined, '').fail(`not JSON: ${error instanceof Error ? error.message : String(error)}`)
    }
  }

  fail(problem: string): never {
    throw new CodedError<GenesisError>({ code: 'GENESIS_INVALID', path: this.path, problem })
  }

  optional(key: string): GenesisValue | undefined {
    const value = this.#object()[key]
    return value === undefined ? undefined : new GenesisValue(value, this.#pathOf(key))
  }

  required(key: string): GenesisValue {
    return this.optional(key) ?? this.fail(`"${key}" is missing`)
  }

  /** Rejects any member that is not listed. */
  only(known: readonly string[]): void {
    for (const key of Object.keys(this.#object())) {
      if (!known.includes(key)) {
        new GenesisValue(undefined, this.#pathOf(key)).fail(`unknown member; known here: ${known.join(', ')}`)
      }
    }
  }

  entries(): readonly (readonly [string, GenesisValue])[] {
    return Object.entries(this.#object()).map(([key, value]) => [key, new GenesisValue(value, this.#pathOf(key))])
  }

  list(): readonly GenesisValue[] {
    if (!Array.isArray(this.value)) return this.fail('want an array')
    return this.value.map((value, index) => new GenesisValue(value, `${this.path}[${index}]`))
  }

  text(maxBytes: number): string {
    if (typeof this.value !== 'string' || this.value === '') return this.fail('want a string that is not empty')
    if (Buffer.byteLength(this.value) > maxBytes) return this.fail(`want at most ${maxBytes} bytes of text`)
    return this.value
  }

  isNull(): boolean {
    return this.value === null
  }

  boolean(): boolean {
    return typeof this.value === 'boolean' ? this.value : this.fail('want true or false')
  }

  /** Reads a JSON number without fraction in a range. */
  integer(min: number, max: number = Number.MAX_SAFE_INTEGER): number {
    const value = this.value
    if (typeof value !== 'number' || !Number.isSafeInteger(value)) return this.fail('want a whole number')
    if (value < min || value > max) return this.fail(`want a whole number from ${min} to ${max}`)
    return value
  }

  /** Reads an amount of wei or gas: a decimal or 0x-hex string, since a JSON number would lose digits. */
  amount(max: bigint = 2n ** 256n - 1n): bigint {
    if (typeof this.value !== 'string' || !AMOUNT.test(this.value)) {
      return this.fail('want an amount as a string, decimal ("1000") or hex ("0x3e8")')
    }
    const amount = BigInt(this.value)
    return amount > max ? this.fail(`want at most ${max}`) : amount
  }

  address(): Hex {
    if (typeof this.value !== 'string' || !ADDRESS.test(this.value))
      return this.fail('want an address: 0x and 40 hex digits')
    return this.value.toLowerCase() as Hex
  }

  data(maxBytes: number): Uint8Array {
    if (typeof this.value !== 'string' || !DATA.test(this.value))
      return this.fail('want bytes: 0x and pairs of hex digits')
    const bytes = hexToBytes(this.value as Hex)
    return bytes.byteLength > maxBytes ? this.fail(`want at most ${maxBytes} bytes`) : bytes
  }

  /** Reads 0x and up to `2 * size` hex digits, padded on the left. */
  word(size = 32): Hex {
    return padWord(this, this.value, size)
  }

  #object(): Record<string, unknown> {
    if (typeof this.value === 'object' && this.value !== null && !Array.isArray(this.value))
      return this.value as Record<string, unknown>
    return this.fail('want an object')
  }

  #pathOf(key: string): string {
    return this.path === '' ? key : `${this.path}.${key}`
  }
}

const AMOUNT = /^(0|[1-9][0-9]{0,77}|0x[0-9a-fA-F]{1,64})$/
const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const DATA = /^0x([0-9a-fA-F]{2})*$/
const WORD = /^0x[0-9a-fA-F]+$/

/** Reads a word given as a member's value or as its key. */
export const padWord = (at: GenesisValue, value: unknown, size: number): Hex => {
  if (typeof value !== 'string' || !WORD.test(value) || value.length > 2 + 2 * size) {
    return at.fail(`want 0x and at most ${2 * size} hex digits`)
  }
  return `0x${value
    .slice(2)
    .toLowerCase()
    .padStart(2 * size, '0')}`
}
