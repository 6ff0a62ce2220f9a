/** Bounds of what clients ask for: requests and answers, calls, traces, simulations. */
export const CLIENT_LIMITS = {
  rpc: {
    bodyBytes: 5 * 1024 * 1024,
    /**
     * What clients may make a server hold, in all and each (an IPv4 address, or the /64 of an IPv6 one); the first `free` of a request or a
     * connection do not count. Bytes of requests: JSON takes about three times as much once it is parsed.
     */
    budgets: {
      bodies: { total: 64 * 1024 * 1024, client: 24 * 1024 * 1024, free: 16 * 1024 },
      /** Answers and notifications their reader has not taken. */
      answers: { total: 128 * 1024 * 1024, client: 48 * 1024 * 1024, free: 64 * 1024 },
      /** Of filters and subscriptions, with what they look for. */
      criteria: { total: 32 * 1024 * 1024, client: 8 * 1024 * 1024 },
      filters: { total: 10_000, client: 2_500 },
      connections: { total: 10_000, client: 2_500 },
      sockets: { total: 3_000, client: 1_000 },
    },
    /** About what a filter or subscription takes in memory besides what it looks for. */
    filterBytes: 1_024,
    batchItems: 1_000,
    /** Of answers of a batch that are made before those before them are read. */
    batchAheadBytes: 512 * 1024,
    /** Longest id of a request. */
    idChars: 16 * 1024,
    /** Of one answer, and of all answers of a batch: the largest logs one transaction can make fit. */
    answerBytes: 32 * 1024 * 1024,
    /**
     * Bytes of batches and of bodies beyond `unscannedBytes` that are parsed and being answered: the next one begins while less is held,
     * in all and of its client. Parsed JSON takes up to ten times as much.
     */
    parsedBytes: { total: 12 * 1024 * 1024, client: 3 * 1024 * 1024 },
    /** Bodies up to this size are parsed without a look at their shape. */
    unscannedBytes: 32 * 1024,
    nesting: 32,
    containers: 100_000,
    /** A body full of addresses has fewer. */
    values: 125_000,
    blockRange: 100,
    logResults: 10_000,
    /** Data of the logs of one answer: a transaction can log twelve megabytes. */
    logBytes: 12 * 1024 * 1024,
    logQueryMs: 10_000,
    feeHistoryBlocks: 1_024,
    feeHistoryPercentiles: 100,
    proofKeys: 1_024,
    filterIdleMs: 5 * 60_000,
    filterResults: 100_000,
    subscriptionsPerSocket: 3_000,
    socketBacklogBytes: 16 * 1024 * 1024,
    socketInFlight: 1_000,
    socketFragments: 1_024,
    socketPingMs: 30_000,
    /** A reader of a streamed answer that takes nothing for so long is dropped. */
    streamStallMs: 15_000,
    /** The slowest line it may come by, on average. */
    streamBytesPerMs: 64,
    httpRequestMs: 30_000,
    /** How long the rest of a refused body is read away, so that the client gets to the answer. */
    lingerMs: 2_000,
    httpKeepAliveMs: 120_000,
    /** Of a request: what Node's own HTTP server takes. */
    headBytes: 16 * 1024,
    /** Of plain calls: chunks one request may come in, and answers written at once. */
    laneChunks: 8,
    laneWriteBytes: 256 * 1024,
    /** Read from a connection while it waits for an answer. */
    laneAheadBytes: 64 * 1024,
    renderedCacheBytes: 4 * 1024 * 1024,
    /** Answers longer than this are written while they are read, this many at a time. Blocks are told by gas or transactions. */
    largeAnswerBytes: 1024 * 1024,
    largeBlockGas: 5_000_000n,
    largeBlockTransactions: 1_000,
    largeAnswers: { total: 4, client: 3, queue: 1_024, clientQueue: 256 },
    proofs: { total: 128, client: 32, queue: 1_024, clientQueue: 512 },
    chunkChars: 64 * 1024,
  },
  call: {
    /** Of a call that runs beside blocks, on a development chain, before it goes to a worker. */
    localMs: 20,
    gas: 100_000_000n,
    timeoutMs: 5_000,
    workers: 1,
    /** Started while another one does not answer, stopped when idle. */
    extraWorkers: 1,
    queue: 4_096,
    /** Call data, code and overrides of all calls that wait or run. */
    queueBytes: 64 * 1024 * 1024,
    /** Of one client (an IPv4 address, or the /64 of an IPv6 one): what waits or runs, its bytes, and what runs at a time. */
    clientCalls: 1_024,
    clientBytes: 32 * 1024 * 1024,
    clientInFlight: 24,
    /** Memory of the frames of all calls of a worker, which the heap's limit does not see. */
    frameBytes: 256 * 1024 * 1024,
    /** Calls that share a worker by turns. */
    inFlight: 32,
    /** Jobs and answers that cross between threads in one message. */
    batch: 8,
    /** A worker silent for so long gets no more calls, and its others go elsewhere. */
    stuckMs: 60,
    /** Beyond `timeoutMs`: then a worker is stopped from outside. */
    graceMs: 500,
    /** States (snapshots) and extra workers not used for so long are given back. */
    idleStateMs: 2_000,
    idleWorkerMs: 10_000,
    cachedStates: 2,
    cachedItems: 20_000,
    codeCacheBytes: 8 * 1024 * 1024,
    heapMegabytes: 128,
    /** Small: most of what a call makes is garbage at once, and a large nursery only grows the process. */
    nurseryMegabytes: 8,
  },
  /** Transactions run again with a tracer (debug_trace*), and walks through the state. */
  trace: {
    /** Of one transaction by default, and the most a client may ask for; also of a whole request. Waiting for its reader does not count. */
    timeoutMs: 5_000,
    maxTimeoutMs: 300_000,
    /** Under way and waiting at the port, in all and of one client; and the same of the worker. */
    slots: { total: 4, client: 2, queue: 512, clientQueue: 128 },
    inFlight: 4,
    queue: 32,
    /** Kept by tracers that know their answer only at the end. */
    heldBytes: 64 * 1024 * 1024,
    /** Of one answer: a hundred million gas in small loops make ten gigabytes of struct logs. */
    answerBytes: 64 * 1024 * 1024 * 1024,
    /** A piece of an answer, and how many of them may be on their way to its reader. */
    chunkChars: 128 * 1024,
    chunks: 4,
    /** Silence after which a worker is stopped from outside: no opcode and no precompile takes so long. */
    stuckMs: 30_000,
    /** A worker without work is given back. */
    idleWorkerMs: 30_000,
    heapMegabytes: 384,
    nurseryMegabytes: 16,
    /** Transactions searched for the addresses behind hashed keys. */
    addressTransactions: 20_000,
    /** Of debug_accountRange and debug_storageRangeAt, per answer. */
    rangeResults: 256,
    storageResults: 1_024,
    /** Of debug_getModifiedAccounts: blocks looked at, and accounts answered. */
    modifiedBlocks: 128,
    modifiedAccounts: 10_000,
  },
  /** Of one eth_simulateV1. */
  simulate: {
    /** Counted from the block under the first, empty ones before a number asked for included. */
    blocks: 256,
    /** In all blocks together. */
    calls: 5_000,
    /** Return data and logs, before they are hex. */
    answerBytes: 8 * 1024 * 1024,
    /** Accounts and slots that the blocks change: the trie's thread works on all of them at once for the state roots. */
    changes: 20_000,
    /** The same, once for each time that code asks for the hash of a simulated block. */
    hashedChanges: 100_000,
  },
} as const
