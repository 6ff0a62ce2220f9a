/** Messages of this thread by the engine that ran them, for the metrics. */
export const engineCounts = { wasm: 0, elsewhere: 0 }
