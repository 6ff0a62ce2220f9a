/** Tracer by name with its settings; the RPC codec builds these from geth's `TraceConfig`. */
export type TracerConfig =
  | StructLogConfig
  | CallTracerConfig
  | FlatCallTracerConfig
  | PrestateConfig
  | { readonly name: '4byteTracer' }
  | { readonly name: 'consoleTracer' }
  | { readonly name: 'noopTracer' }
  | MuxConfig

/** One entry per opcode; the default tracer. */
export interface StructLogConfig {
  readonly name: 'structLogger'
  readonly disableStorage: boolean
  readonly disableStack: boolean
  readonly enableMemory: boolean
  readonly enableReturnData: boolean
  /** Number of steps shown; 0 shows all. */
  readonly limit: number
}

export interface CallTracerConfig {
  readonly name: 'callTracer'
  readonly onlyTopCall: boolean
  readonly withLog: boolean
}

export interface FlatCallTracerConfig {
  readonly name: 'flatCallTracer'
  readonly convertParityErrors: boolean
  readonly includePrecompiles: boolean
}

export interface PrestateConfig {
  readonly name: 'prestateTracer'
  readonly diffMode: boolean
  readonly disableCode: boolean
  readonly disableStorage: boolean
  readonly includeEmpty: boolean
}

export interface MuxConfig {
  readonly name: 'muxTracer'
  readonly tracers: readonly TracerConfig[]
}

export interface TraceConfig {
  readonly tracer: TracerConfig
  /** Time limit of one transaction, without waiting for the reader of the result. */
  readonly timeoutMs: number
}

/** Errors of traces, thrown as CodedError. */
export type TraceError =
  | { readonly code: 'TRACE_TIMEOUT'; readonly timeoutMs: number }
  /** More than a tracer may keep in memory until its end, or than a response may have in total. */
  | { readonly code: 'TRACE_TOO_LARGE'; readonly limitBytes: number }
  /** The trace queue is full; the caller may try later. */
  | { readonly code: 'TRACE_QUEUE_FULL'; readonly limit: number }
  | { readonly code: 'TRACE_FAILED'; readonly reason: string }
