import type { ChunkStream } from '../../util/async/chunk-stream.ts'
import type { ResponseChunk } from './response.ts'

/** JSON text built by hand: the router writes it as it stands. Final objects are rendered once and cached in this form. */
export class RawJson {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** A result that is written while it is made. `open` begins nothing: the stream does, when it is read. */
export class StreamedJson {
  /** For a client, whose turn some answers wait for. */
  readonly open: (client: string) => ChunkStream<ResponseChunk>
  /** What it keeps in memory until it is read. */
  readonly heldBytes: number

  constructor(open: StreamedJson['open'], heldBytes = 0) {
    this.open = open
    this.heldBytes = heldBytes
  }
}

export const NULL_JSON = new RawJson('null')

/** A JSON Schema, as OpenRPC and the documentation show it. */
export type JsonSchema = { readonly [key: string]: unknown }

/** A handler's answer as JSON text. */
export const toJson = (value: unknown): string =>
  value instanceof RawJson ? value.text : JSON.stringify(value ?? null)
