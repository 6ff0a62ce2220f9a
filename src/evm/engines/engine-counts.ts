/** Number of this thread's messages by engine, for the metrics. */
export const engineCounts = { wasm: 0, elsewhere: 0 }
