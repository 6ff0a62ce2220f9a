/** Number of this thread's messages by engine, for the metrics. */
export const engineCounts = { wasm: 0, elsewhere: 0 }

/** Compiled codes of this thread, for the metrics. */
export const compilerCounts = {
  /** Codes kept, and their size in WebAssembly. */
  codes: 0,
  bytes: 0,
  compiled: 0,
  /** Codes that were not compiled: nothing of them would run, or the worker ended. */
  refused: 0,
  /** Requests that were not served: too many wait, or there was too much to compile of late. */
  dropped: 0,
  evicted: 0,
  /** Frames that entered compiled code. */
  entries: 0,
  compileMs: 0,
}
