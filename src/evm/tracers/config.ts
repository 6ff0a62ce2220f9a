/** A tracer by name, with what can be set about it; the codec of the RPC makes these from geth's `TraceConfig`. */
export type TracerConfig =
  | StructLogConfig
  | CallTracerConfig
  | FlatCallTracerConfig
  | PrestateConfig
  | { readonly name: '4byteTracer' }
  | { readonly name: 'noopTracer' }
  | MuxConfig

/** One entry per opcode; what runs when no tracer is named. */
export interface StructLogConfig {
  readonly name: 'structLogger'
  readonly disableStorage: boolean
  readonly disableStack: boolean
  readonly enableMemory: boolean
  readonly enableReturnData: boolean
  /** Steps shown; 0 shows all. */
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
  /** Of one transaction, without waiting for whoever reads the answer. */
  readonly timeoutMs: number
}

/** Thrown as CodedError by traces. */
export type TraceError =
  | { readonly code: 'TRACE_TIMEOUT'; readonly timeoutMs: number }
  /** More than a tracer may keep in memory until its end, or than an answer may have in all. */
  | { readonly code: 'TRACE_TOO_LARGE'; readonly limitBytes: number }
  /** More traces wait than may; the caller may try later. */
  | { readonly code: 'TRACE_QUEUE_FULL'; readonly limit: number }
  | { readonly code: 'TRACE_FAILED'; readonly reason: string }
