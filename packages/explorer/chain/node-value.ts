import { EMPTY_BYTES, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { plainText } from './plain-text.ts'

/** Failure of a request to the node. */
type NodeRequestError =
  /** No connection, or no response in time. */
  | { readonly code: 'NODE_UNREACHABLE'; readonly reason: string }
  /** JSON-RPC error of the node. */
  | { readonly code: 'NODE_REFUSED'; readonly method: string; readonly message: string }
  /** A result that has another form than the method's. */
  | { readonly code: 'NODE_ANSWER_INVALID'; readonly reason: string }

export const nodeError = (detail: NodeRequestError): CodedError<NodeRequestError> => new CodedError(detail)

export const invalidResult = (reason: string): CodedError<NodeRequestError> =>
  nodeError({ code: 'NODE_ANSWER_INVALID', reason })

/** Cap on any text of a node; hidden characters of a longer one may leave less of it. */
const TEXT_CHARS = 128
const READ_CHARS = 4_096

const QUANTITY = /^0x[0-9a-f]{1,64}$/
const DATA = /^0x(?:[0-9a-f]{2})*$/

/** Value in a result of a node, with its path. Every read checks the form and throws NODE_ANSWER_INVALID. */
export class NodeValue {
  readonly #value: unknown
  readonly #path: string

  constructor(value: unknown, path: string) {
    this.#value = value
    this.#path = path
  }

  get isNull(): boolean {
    return this.#value === null || this.#value === undefined
  }

  member(name: string): NodeValue {
    const value = this.#value
    if (typeof value !== 'object' || value === null) throw this.#invalid('an object')
    return new NodeValue((value as Readonly<Record<string, unknown>>)[name], `${this.#path}.${name}`)
  }

  items(): readonly NodeValue[] {
    if (!Array.isArray(this.#value)) throw this.#invalid('a list')
    return this.#value.map((item, at) => new NodeValue(item, `${this.#path}[${at}]`))
  }

  /** What `read` takes from each of a list. */
  list<T>(read: (item: NodeValue) => T): readonly T[] {
    return this.items().map(read)
  }

  /** What `read` takes from it; null where there is nothing. */
  orNull<T>(read: (value: NodeValue) => T): T | null {
    return this.isNull ? null : read(this)
  }

  quantity(): bigint {
    return BigInt(this.#text(QUANTITY, 'a quantity'))
  }

  /** A quantity that a number holds exactly. */
  integer(): number {
    const value = Number(this.#text(QUANTITY, 'a quantity'))
    if (!Number.isSafeInteger(value)) throw this.#invalid('a quantity below 2^53')
    return value
  }

  /** Lower-case hex of so many bytes. */
  hex(bytes: number): Hex {
    const text = this.#text(DATA, 'hex digits')
    if (text.length !== 2 + 2 * bytes) throw this.#invalid(`${bytes} bytes`)
    return text as Hex
  }

  /** A list of them. */
  hexes(bytes: number): readonly Hex[] {
    return this.list(item => item.hex(bytes))
  }

  /** Lower-case hex of any number of bytes. */
  data(): Hex {
    return this.#text(DATA, 'hex digits') as Hex
  }

  bytes(): Uint8Array {
    const text = this.data()
    return text === '0x' ? EMPTY_BYTES : hexToBytes(text)
  }

  /** Bytes of a quantity, without leading zeros. */
  word(): Uint8Array {
    const digits = this.#text(QUANTITY, 'a quantity').slice(2)
    return hexToBytes(`0x${digits.length % 2 === 0 ? digits : `0${digits}`}`)
  }

  /** Text as people may be shown it; '' when nothing of it is left. */
  text(): string {
    if (typeof this.#value !== 'string') throw this.#invalid('a text')
    return plainText(this.#value.slice(0, READ_CHARS), TEXT_CHARS) ?? ''
  }

  /** A JSON number without a fraction, both bounds included. */
  whole(least: number, most: number = Number.MAX_SAFE_INTEGER): number {
    const value = this.#value
    if (typeof value !== 'number' || !(value >= least && value <= most))
      throw this.#invalid(`a number from ${least} to ${most}`)
    if (!Number.isSafeInteger(value)) throw this.#invalid('a whole number')
    return value
  }

  boolean(): boolean {
    if (typeof this.#value !== 'boolean') throw this.#invalid('true or false')
    return this.#value
  }

  /** Members by name. */
  entries(): readonly (readonly [string, NodeValue])[] {
    const value = this.#value
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw this.#invalid('an object')
    return Object.entries(value).map(([name, item]) => [name, new NodeValue(item, `${this.#path}.${name}`)])
  }

  #text(form: RegExp, wanted: string): string {
    const value = this.#value
    if (typeof value !== 'string' || !form.test(value)) throw this.#invalid(wanted)
    return value
  }

  #invalid(wanted: string): Error {
    return invalidResult(`${this.#path} is not ${wanted}`)
  }
}
