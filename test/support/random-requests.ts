import type { Hex } from '../../src/util/bytes.ts'
import type { Random } from './consensus/random.ts'

/** A method as `rpc.discover` tells it. */
export interface MethodShape {
  readonly name: string
  readonly params: readonly { readonly name: string; readonly schema: Schema }[]
}

interface Schema {
  readonly type?: string
  readonly pattern?: string
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
}

export interface Samples {
  readonly addresses: readonly Hex[]
  readonly hashes: readonly Hex[]
  readonly raws: readonly Hex[]
}

/** What is sent in one piece, and which ids must come back, each once. Null stands for an answer without a readable id. */
export interface Outgoing {
  readonly text: string
  readonly calls: number
  readonly ids: readonly (string | null)[]
  /** Whether anything comes back; nothing does to notifications. */
  readonly isAnswered: boolean
  /** What a broken text is answered with is not foretold. */
  readonly isGarbage: boolean
}

/** A kind of request that would have nothing to do with the others' answers, or take the node's time by design. */
const LEFT_OUT = /^(eth|native)_(subscribe|unsubscribe)$/

/** Requests by chance: right ones, nearly right ones, and nonsense, from one seed. */
export class RequestMaker {
  readonly #methods: readonly MethodShape[]
  readonly #samples: Samples
  readonly #random: Random
  #id = 0

  constructor(methods: readonly MethodShape[], samples: Samples, random: Random) {
    this.#methods = methods.filter(({ name }) => !LEFT_OUT.test(name))
    this.#samples = samples
    this.#random = random
  }

  /** At most `limit` calls. */
  next(limit: number): Outgoing {
    const random = this.#random
    if (random.chance(0.04)) return this.#garbage()
    if (random.chance(0.12)) return this.#batch(Math.min(limit, 1 + random.below(random.chance(0.1) ? 200 : 12)))
    const { text, id } = this.#call()
    return { text, calls: 1, ids: id === undefined ? [] : [id], isAnswered: id !== undefined, isGarbage: false }
  }

  #batch(size: number): Outgoing {
    const calls = Array.from({ length: Math.max(1, size) }, () => this.#call())
    return {
      text: `[${calls.map(({ text }) => text).join(',')}]`,
      calls: calls.length,
      ids: calls.flatMap(({ id }) => (id === undefined ? [] : [id])),
      isAnswered: calls.some(({ id }) => id !== undefined),
      isGarbage: false,
    }
  }

  /** `id` undefined: a notification. */
  #call(): { readonly text: string; readonly id: string | null | undefined } {
    const random = this.#random
    const method = random.pick(this.#methods)
    const name = random.chance(0.05) ? this.#mangled(method.name) : method.name
    const params = random.chance(0.05) ? this.#anything(3) : this.#params(method)
    const id = random.chance(0.05) ? undefined : random.chance(0.5) ? ++this.#id : `r${++this.#id}`
    const text = JSON.stringify({ jsonrpc: '2.0', ...(id !== undefined && { id }), method: name, params })
    return { text, id: id === undefined ? undefined : JSON.stringify(id) }
  }

  #params({ params }: MethodShape): unknown[] {
    const random = this.#random
    const given = params.map(({ schema }) => (random.chance(0.15) ? this.#anything(3) : this.#value(schema, 4)))
    if (random.chance(0.1)) given.pop()
    if (random.chance(0.05)) given.push(this.#anything(2))
    return given
  }

  #value(schema: Schema, depth: number): unknown {
    const random = this.#random
    if (depth === 0) return null
    if (schema.anyOf !== undefined) return this.#value(random.pick(schema.anyOf), depth)
    if (schema.enum !== undefined) return random.pick(schema.enum)
    switch (schema.type) {
      case 'boolean':
        return random.chance(0.5)
      case 'integer':
      case 'number':
        return random.below(200)
      case 'null':
        return null
      case 'array':
        return Array.from({ length: random.below(4) }, () => this.#value(schema.items ?? {}, depth - 1))
      case 'object':
        return this.#object(schema, depth)
      case 'string':
        return this.#string(schema.pattern ?? '')
      default:
        return this.#anything(depth - 1)
    }
  }

  #object({ properties = {} }: Schema, depth: number): object {
    const chosen = Object.entries(properties).filter(() => this.#random.chance(0.4))
    return Object.fromEntries(chosen.map(([name, schema]) => [name, this.#value(schema, depth - 1)]))
  }

  #string(pattern: string): string {
    const random = this.#random
    const { addresses, hashes, raws } = this.#samples
    const text = pattern.includes('{40}')
      ? random.pick(addresses)
      : pattern.includes('{64}')
        ? random.pick(hashes)
        : pattern.includes('[1-9a-f]')
          ? `0x${random.below(random.chance(0.8) ? 40 : 2 ** 31).toString(16)}`
          : random.chance(0.3)
            ? random.pick(raws)
            : this.#hex(random.below(80))
    return random.chance(0.1) ? this.#mangled(text) : text
  }

  #hex(bytes: number): string {
    return `0x${Array.from({ length: bytes }, () => this.#random.below(256).toString(16).padStart(2, '0')).join('')}`
  }

  /** A character dropped, doubled or changed. */
  #mangled(text: string): string {
    const at = this.#random.below(text.length + 1)
    const put = this.#random.pick(['', 'f', '0', 'x', 'é', '"', '\\', '\u0000', text])
    return text.slice(0, at) + put + text.slice(at + this.#random.below(2))
  }

  #anything(depth: number): unknown {
    const random = this.#random
    switch (random.below(depth > 0 ? 9 : 7)) {
      case 0:
        return null
      case 1:
        return random.chance(0.5)
      case 2:
        return random.pick([0, -1, 1.5, 1e308, 2 ** 53, -0, random.below(2 ** 31)])
      case 3:
        return random.pick(['', 'latest', 'pending', 'earliest', '0x', '0x0', '__proto__', 'safe', 'x'.repeat(2_000)])
      case 4:
        return this.#hex(random.pick([1, 20, 32, 33, 256, 5_000]))
      case 5:
        return random.pick(this.#samples.addresses)
      case 6:
        return random.pick(this.#samples.hashes)
      case 7:
        return Array.from({ length: random.below(6) }, () => this.#anything(depth - 1))
      default:
        return Object.fromEntries(
          Array.from({ length: random.below(5) }, () => [
            random.pick([
              'to',
              'from',
              'data',
              'value',
              'address',
              'topics',
              'blockHash',
              '__proto__',
              'toString',
              this.#hex(20),
            ]),
            this.#anything(depth - 1),
          ]),
        )
    }
  }

  /** A text with something cut off or put in, or no request at all. */
  #garbage(): Outgoing {
    const random = this.#random
    const { text } = this.#call()
    const broken = random.chance(0.5)
      ? text.slice(0, 1 + random.below(text.length - 1))
      : random.chance(0.5)
        ? this.#mangled(text)
        : JSON.stringify(this.#anything(4))
    return { text: broken, calls: 1, ids: [], isAnswered: !isNotification(broken), isGarbage: true }
  }
}

/** Broken texts may still be requests. */
const isNotification = (text: string): boolean => {
  try {
    const { method, id } = Object(JSON.parse(text)) as { method?: unknown; id?: unknown }
    return typeof method === 'string' && id === undefined
  } catch {
    return false
  }
}
