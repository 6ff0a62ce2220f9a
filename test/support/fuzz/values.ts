import type { Random } from '@tandem/base/random.ts'
import type { LiveValues } from './live-values.ts'

/** As far as the documents of this node use JSON Schema. */
export interface Schema {
  readonly type?: string
  readonly pattern?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly minItems?: number
  readonly maxItems?: number
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly minProperties?: number
  readonly propertyNames?: Schema
  readonly additionalProperties?: Schema | boolean
}

const TEXTS = [
  '',
  'latest',
  'pending',
  'earliest',
  '0x',
  '0x0',
  '__proto__',
  'constructor',
  'safe',
  'finalized',
  '😀é\u0000',
]
const NUMBERS = [0, -1, 1.5, 1e308, 2 ** 53, -0, 2 ** 31]
const MEMBERS = ['to', 'from', 'data', 'value', 'address', 'topics', 'blockHash', 'tracer', '__proto__', 'toString']
const DIGITS = '0123456789abcdef'

/** Values by chance from one seed: such as a schema asks for, filled with what exists, and any others. */
export class ValueMaker {
  readonly #random: Random
  readonly #live: LiveValues

  constructor(live: LiveValues, random: Random) {
    this.#live = live
    this.#random = random
  }

  /** `name` is that of the argument or member: it tells the id of a filter from any other number. */
  fitting(schema: Schema, name: string, depth = 12): unknown {
    const random = this.#random
    if (depth === 0) return null
    if (schema.anyOf !== undefined) return this.fitting(random.pick(schema.anyOf), name, depth)
    if (schema.enum !== undefined) return random.pick(schema.enum)
    if ('const' in schema) return schema.const
    switch (schema.type) {
      case 'boolean':
        return random.chance(0.5)
      case 'integer':
      case 'number':
        return name === 'txIndex' ? random.pick([0, 0, 1, 2]) : random.below(100)
      case 'null':
        return null
      case 'array':
        return Array.from({ length: this.#length(schema) }, () => this.fitting(schema.items ?? {}, name, depth - 1))
      case 'object':
        return this.#object(schema, depth)
      case 'string':
        return this.#text(schema.pattern ?? '', name)
      default:
        return this.any(depth - 1)
    }
  }

  #length({ minItems = 0, maxItems = 3 }: Schema): number {
    return minItems + this.#random.below(Math.min(3, maxItems - minItems) + 1)
  }

  #object(schema: Schema, depth: number): object {
    const { properties = {}, required = [], propertyNames = { type: 'string' }, additionalProperties } = schema
    const least = schema.minProperties ?? 0
    const random = this.#random
    // Fields exclude each other: few of them often fit, many hardly ever.
    const density = random.pick([0.05, 0.15, 0.6])
    const chosen = Object.entries(properties).filter(([name]) => required.includes(name) || random.chance(density))
    const members = chosen.map(([name, schema]) => [name, this.fitting(schema, name, depth - 1)] as const)
    if (typeof additionalProperties === 'object')
      for (let i = least + random.below(3); i > 0; i--) {
        const key = String(this.fitting(propertyNames, 'key', 2))
        members.push([key, this.fitting(additionalProperties, key, depth - 1)])
      }
    return Object.fromEntries(members)
  }

  #text(pattern: string, name: string): string {
    const random = this.#random
    const { addresses, hashes, callData, filters, subscriptions, head } = this.#live
    if (name === 'filter' && filters.items.length > 0) return random.pick(filters.items)
    if (name === 'subscription' && subscriptions.length > 0) return random.pick(subscriptions)
    if (name === 'keyStart') return this.#hex(random.below(33))
    if (pattern.startsWith('^tandem://')) return `tandem://${'0a'.repeat(32)}@127.0.0.1:${1 + random.below(65_535)}`
    if (pattern.includes('{40}')) return random.pick(addresses)
    if (pattern.includes('{64}')) return random.pick(hashes.items)
    if (pattern.includes('{1,16}')) return random.chance(0.5) ? this.#hex(8) : `0x${random.below(0xffff).toString(16)}`
    if (pattern.includes('{0,64}')) return random.chance(0.5) ? this.#hex(random.below(33)) : `0x${random.below(9)}`
    if (pattern.includes('{0,32}')) return this.#hex(random.below(33))
    if (pattern.includes('(?:ns|')) return `${1 + random.below(500)}ms`
    if (pattern.startsWith('^([0-9]{1,')) return this.#loose(name, head)
    if (pattern.includes('[0-9a-f]?)')) return `0x${random.below(256).toString(16)}`
    if (pattern.includes('[1-9a-f]')) return `0x${this.#quantity(name, head).toString(16)}`
    return random.chance(0.7) ? random.pick(callData) : this.#hex(random.below(80))
  }

  #loose(name: string, head: number): string {
    const value = this.#quantity(name, head)
    return this.#random.pick([`${value}`, `0x${value.toString(16)}`, `0x0${value.toString(16).toUpperCase()}`])
  }

  #quantity(name: string, head: number): number {
    const random = this.#random
    if (/^gas$|gasLimit/i.test(name)) return 21_000 + random.below(200_000)
    if (/fee|price/i.test(name)) return (25 + random.below(10)) * 1e9
    if (/block|from|to/i.test(name)) return random.below(head + 2)
    return random.below(random.chance(0.9) ? 8 : 2 ** 31)
  }

  #hex(bytes: number): string {
    let text = '0x'
    for (let i = 0; i < 2 * bytes; i++) text += DIGITS[this.#random.below(16)]
    return text
  }

  /** Any value, mostly one that looks right. */
  any(depth: number): unknown {
    const random = this.#random
    switch (random.below(depth > 0 ? 10 : 7)) {
      case 0:
        return null
      case 1:
        return random.chance(0.5)
      case 2:
        return random.pick(NUMBERS)
      case 3:
        return random.chance(0.05) ? 'x'.repeat(2_000) : random.pick(TEXTS)
      case 4:
        return this.#hex(random.chance(0.02) ? 5_000 : random.pick([1, 20, 32, 33, 256]))
      case 5:
        return random.pick(this.#live.addresses)
      case 6:
        return random.pick(this.#live.hashes.items)
      case 7:
        return Array.from({ length: random.below(6) }, () => this.any(depth - 1))
      case 8:
        return this.#deep(random.below(60))
      default:
        return Object.fromEntries(
          Array.from({ length: random.below(5) }, () => [
            random.chance(0.2) ? this.#hex(20) : random.pick(MEMBERS),
            this.any(depth - 1),
          ]),
        )
    }
  }

  #deep(depth: number): unknown {
    let value: unknown = 1
    for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { to: value }
    return value
  }

  /** The value, or the text in it, with one thing wrong. */
  nearMiss(value: unknown): unknown {
    const random = this.#random
    if (typeof value === 'string') return this.mangled(value)
    if (Array.isArray(value) && value.length > 0) return value.with(random.below(value.length), this.any(1))
    if (typeof value === 'object' && value !== null) return { ...value, [random.pick(MEMBERS)]: this.any(2) }
    return this.any(2)
  }

  /** A character dropped, doubled or changed; hex without its prefix, too long, of odd length, with a leading zero. */
  mangled(text: string): string {
    const random = this.#random
    switch (random.below(6)) {
      case 0:
        return text.replace(/^0x/, '')
      case 1:
        return text.replace(/^0x/, '0x0')
      case 2:
        return text.toUpperCase()
      case 3:
        return `${text}${text.slice(2)}`
      default: {
        const at = random.below(text.length + 1)
        const put = random.pick(['', 'f', 'g', ' ', 'é', '"', '\\', '\u0000', '１'])
        return text.slice(0, at) + put + text.slice(at + random.below(2))
      }
    }
  }
}
