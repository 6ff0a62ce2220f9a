import type { ResponseStream } from './response.ts'

/** JSON text that the router writes unchanged. Final objects are encoded once and cached in this form. */
export class RawJson {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Result that is produced while it is written. `open` starts no work: reading the stream does. */
export class StreamedJson {
  /** Opens the stream for a client; some streams wait for a slot of that client. */
  readonly open: (client: string) => ResponseStream
  /** Bytes kept in memory until the stream is read. */
  readonly heldBytes: number
  /** Bytes of the JSON, when it is in memory already. */
  readonly length: number | undefined

  constructor(open: StreamedJson['open'], { heldBytes = 0, length }: { heldBytes?: number; length?: number } = {}) {
    this.open = open
    this.heldBytes = heldBytes
    this.length = length
  }
}

export const NULL_JSON = new RawJson('null')

/** A JSON Schema, as shown in OpenRPC and the documentation. */
export type JsonSchema = { readonly [key: string]: unknown }

/** Encodes a handler's result as JSON text. */
export const toJson = (value: unknown): string =>
  value instanceof RawJson ? value.text : JSON.stringify(value ?? null)
