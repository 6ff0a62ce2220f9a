import { asBuffer } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import type { TraceError } from './config.ts'
import type { JsonSink } from './json-sink.ts'

/** Counts the memory of tracers. Throws TRACE_TOO_LARGE. */
export interface MemoryCounter {
  add(bytes: number): void
}

export interface TracerContext {
  /** For parts that a tracer need not keep. */
  readonly output: Pick<JsonSink, 'write' | 'nest' | 'close'>
  readonly memory: MemoryCounter
}

export const createMemoryCounter = (limitBytes: number): MemoryCounter => {
  let total = 0
  return {
    add(bytes) {
      total += bytes
      if (total > limitBytes) throw new CodedError<TraceError>({ code: 'TRACE_TOO_LARGE', limitBytes })
    },
  }
}

/** JSON string literals: hex needs no escaping. */
export const quantityJson = (value: bigint | number): string => `"0x${value.toString(16)}"`
export const dataJson = (bytes: Uint8Array): string => `"0x${asBuffer(bytes).hexSlice(0, bytes.byteLength)}"`

/** String literal; undefined stays. */
export const quotedJson = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : JSON.stringify(text)

/** Returns an object of members that are JSON already; undefined ones are omitted. */
export const objectJson = (members: Readonly<Record<string, string | undefined>>): string => {
  let text = ''
  for (const [name, value] of Object.entries(members)) {
    if (value !== undefined) text += `${text === '' ? '' : ','}"${name}":${value}`
  }
  return `{${text}}`
}
