import { CodedError } from '../../util/errors.ts'
import type { TraceError } from './config.ts'

/** Where a tracer writes what it need not keep. */
export interface TraceOutput {
  write(text: string): void
  /** Opens an object or array that `closer` would end; nothing is written before something inside it is. */
  nest(opener: string, closer: string): void
  /** Ends the innermost one, with another text than the closer where one is given. */
  close(text?: string): void
}

/** Counts what tracers keep until their end. Throws TRACE_TOO_LARGE. */
export interface MemoryCounter {
  add(bytes: number): void
}

export interface TracerContext {
  readonly output: TraceOutput
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
