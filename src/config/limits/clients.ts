/* Requests of clients: requests and responses, calls, traces, simulations. Units are in the names. */

export const RPC_LIMITS = {
  bodyBytes: 5 * 1024 * 1024,
  /** Clients whose rate is remembered (`--rate-limit`). */
  limitedClients: 100_000,
  /** Resources of clients in a server, in total and per client (IPv4 address, IPv6 /64); `free` ones of a request are not counted. */
  budgets: {
    /**
     * Ledger of the memory of all kinds of work together: `bodies`, `answers` and `criteria` below, parsed requests (`parsedBytes`) and
     * heavy calls (`work`). One body of the largest size can be parsed beside all bodies and criteria of its client.
     */
    memory: { total: 128 * 1024 * 1024, client: 36 * 1024 * 1024 },
    bodies: { total: 64 * 1024 * 1024, client: 10 * 1024 * 1024, free: 4 * 1024 },
    /** Responses and notifications their reader has not taken; the largest response fits. */
    answers: { total: 96 * 1024 * 1024, client: 32 * 1024 * 1024, free: 16 * 1024 },
    /** Filters and subscriptions, with their criteria. */
    criteria: { total: 32 * 1024 * 1024, client: 4 * 1024 * 1024 },
    filters: { total: 10_000, client: 2_500 },
    connections: { total: 10_000, client: 2_500 },
    sockets: { total: 3_000, client: 1_000 },
  },
  /** Open files of the process that connections of clients leave to the database, peers and threads; half where there are few. */
  ownFiles: 2_048,
  /**
   * Weights of the heavy calls, from `heavy` on, that one client may have in progress, of all kinds together, and calls that wait. All
   * clients together are bounded by the limits of each kind. A unit of weight stands for `bytes` of memory in the ledger.
   */
  work: { heavy: 20, bytes: 256 * 1024, client: 100, total: Number.MAX_SAFE_INTEGER, clientQueue: 512, queue: 8_192 },
  /** Approximate memory of a filter or subscription besides its criteria. */
  filterBytes: 1_024,
  batchItems: 1_000,
  /** Bytes of batch responses that are made before earlier ones are read. */
  batchAheadBytes: 512 * 1024,
  /** Longest id of a request. */
  idChars: 16 * 1024,
  /** Size of one response, and of all responses of a batch: the largest logs one transaction can make fit. */
  answerBytes: 32 * 1024 * 1024,
  /** Data of a revert in an error, and characters of its reason, each of which may become six. */
  revertBytes: 1024 * 1024,
  reasonChars: 16 * 1024,
  /**
   * Bytes of batches and large bodies that are parsed and being handled, in total and per client; a larger one is handled alone. Parsed JSON takes up to ten times as much, `memory` times as much on average: so it counts in the ledger.
   */
  parsedBytes: { total: 12 * 1024 * 1024, client: 2 * 1024 * 1024, memory: 4 },
  /** Bodies up to this size are parsed without a check of their shape. */
  unscannedBytes: 32 * 1024,
  nesting: 32,
  containers: 100_000,
  /** A body full of addresses has fewer. */
  values: 125_000,
  blockRange: 100,
  /** Periods of the reward in one response; on the public networks the reward is 0 after about 150. */
  rewardPeriods: 256,
  logResults: 10_000,
  /** Data of the logs of one response: a transaction can log twelve megabytes. */
  logBytes: 12 * 1024 * 1024,
  logQueryMs: 10_000,
  feeHistoryBlocks: 1_024,
  feeHistoryPercentiles: 100,
  proofKeys: 1_024,
  filterIdleMs: 5 * 60_000,
  filterResults: 100_000,
  subscriptionsPerSocket: 3_000,
  /** Time in which a transaction must be in a block for eth_sendRawTransactionSync: default, and the most a client may set. */
  receiptWait: { defaultMs: 2_000, maxMs: 20_000 },
  receiptWaits: { total: 2_048, client: 256, queue: 1_024, clientQueue: 128 },
  /** Blocks and transactions of which a socket's subscriptions are still to be notified. */
  waitingEvents: 1_024,
  /** Blocks that a subscription with `fromBlock` goes back, and such subscriptions that read blocks at a time. */
  resumedBlocks: 1_000_000,
  resumes: { total: 8, client: 2, queue: 8_192, clientQueue: 3_000 },
  socketBacklogBytes: 16 * 1024 * 1024,
  socketInFlight: 1_000,
  /** Messages of a socket that were read when its client's turn was over, and wait for the next one. */
  socketWaiting: 64,
  socketFragments: 1_024,
  socketPingMs: 30_000,
  /** Beginning of a streamed response that is held until the response ends or grows beyond it: a failure within it is a plain error. */
  streamHeldBytes: 1024 * 1024,
  /** Time after which a reader of a streamed response that takes nothing is dropped. */
  streamStallMs: 15_000,
  /** Slowest average rate of a reader. */
  streamBytesPerMs: 64,
  /** Time that the reader of a trace or large response may take nothing, and its slowest average rate, while others wait for its slot. */
  wantedSlot: { stallMs: 3_000, bytesPerMs: 256 },
  httpRequestMs: 30_000,
  /** Miners that wait for new work at `GET /work`, in total and per client, and how long. */
  workPolls: { total: 256, client: 64 },
  workPollMs: 30_000,
  /** Time for reading the rest of a refused body, or requests behind the last one, so that the client gets to the response. */
  lingerMs: 2_000,
  httpKeepAliveMs: 120_000,
  /** Time for the head of a request, and until the first one of a connection. */
  httpHeadersMs: 10_000,
  /** Interval in which the HTTP server checks these times. */
  httpCheckMs: 2_000,
  /** Head of a request. */
  headBytes: 16 * 1024,
  /** Requests of a connection, after which it ends. */
  connectionRequests: 10_000,
  /** Requests of a connection without a whole response, from which on it is not read; and the memory of each. */
  unansweredRequests: 16,
  unansweredBytes: 2 * 1024,
  /** Connections that the system accepts before the node does. */
  backlog: 4_096,
  renderedCacheBytes: 4 * 1024 * 1024,
  /** Longer responses are written while they are read, this many at a time. Blocks are classified by gas or transactions. */
  largeAnswerBytes: 1024 * 1024,
  largeBlockGas: 5_000_000n,
  largeBlockTransactions: 1_000,
  /** Transactions whose receipt is known to be long. */
  longReceipts: 4_096,
  largeAnswers: { total: 4, client: 3, queue: 1_024, clientQueue: 256 },
  /** One thread makes them, one after the other; each is megabytes of small pieces until it is encoded. */
  proofs: { total: 12, client: 4, queue: 1_024, clientQueue: 512 },
  chunkChars: 64 * 1024,
} as const

export const CALL_LIMITS = {
  /** Calls that start on the main thread. */
  local: {
    /**
     * Gas a call executes there before it goes to a worker: about 0.2 ms of plain code. The time stops one whose state is not in memory.
     * A development chain's client waits for each result, and its worker may not have started. Access lists run in the module that reports
     * steps, which a committee's main thread does not load.
     */
    bound: { gas: 150_000n, listGas: 0n, ms: 1 },
    developmentBound: { gas: 20_000_000n, listGas: 600_000n, ms: 20 },
    /** Time of all calls in one turn of the event loop. */
    turnMs: 4,
    /** Calls that wait for a turn; further ones go to a worker. */
    queue: 128,
    /** Largest request. */
    requestBytes: 16 * 1024,
    /** Calls that start in a worker after one like them outran the bound, or after so many of a client did. */
    skips: 64,
    clientOutruns: 8,
    /** Kinds of calls, and clients, whose outruns are remembered. */
    remembered: 1_024,
  },
  gas: 100_000_000n,
  timeoutMs: 5_000,
  queue: 4_096,
  /** Call data, code and overrides of all waiting and running calls. */
  queueBytes: 64 * 1024 * 1024,
  /** Per client (an IPv4 address, or the /64 of an IPv6 one): waiting or running calls, their bytes, and running ones. */
  clientCalls: 1_024,
  clientBytes: 32 * 1024 * 1024,
  clientInFlight: 24,
  /** Memory of a worker's frames, outside the heap limit; calls beyond it wait or are stopped. 300 nested frames of 128 KiB fit. */
  frameBytes: 40 * 1024 * 1024,
  /** Memory that an idle worker keeps for the next calls. */
  idleBytes: 16 * 1024 * 1024,
  /** Calls that share the worker. */
  inFlight: 32,
  /** Jobs and responses sent between threads in one message. */
  batch: 8,
  /** Processor time without a heartbeat after which the worker is replaced: nothing indivisible takes as long; and passed time. */
  stuckMs: 2_000,
  blockedMs: 30_000,
  /** Idle time after which states (snapshots) and memory are released. */
  idleStateMs: 2_000,
  cachedStates: 2,
  cachedItems: 20_000,
  codeCacheBytes: 8 * 1024 * 1024,
  heapMegabytes: 128,
  /** Heap in use above which the running call is stopped: at `heapMegabytes` the worker ends with all of its calls. */
  heapUsedBytes: 96 * 1024 * 1024,
  /** Small: most allocations of a call are garbage at once, and a large nursery only grows the process. */
  nurseryMegabytes: 8,
} as const

/** Transactions executed again with a tracer (debug_trace*), and iterations of the state. */
export const TRACE_LIMITS = {
  /** Default time of one transaction, and the maximum a client may set; also of a whole request. Waiting for its reader does not count. */
  timeoutMs: 5_000,
  maxTimeoutMs: 300_000,
  /** Running and queued at the port, in total and per client; and the same of the worker. */
  slots: { total: 4, client: 2, queue: 512, clientQueue: 128 },
  inFlight: 4,
  queue: 32,
  /** Memory of tracers whose result is complete only at the end. */
  heldBytes: 64 * 1024 * 1024,
  /** Memory outside the heap of all traces: frames, words, codes. The trace that goes beyond it ends. */
  frameBytes: 40 * 1024 * 1024,
  /** Size of one response: a hundred million gas in small loops make ten gigabytes of struct logs. */
  answerBytes: 64 * 1024 * 1024 * 1024,
  /** Size of a piece of a response, and number of pieces on their way to its reader. */
  chunkChars: 128 * 1024,
  chunks: 4,
  /** Processor time without a heartbeat after which a worker is terminated: no opcode or precompile takes as long; and passed time. */
  stuckMs: 30_000,
  blockedMs: 120_000,
  /** Idle time after which a worker is stopped. */
  idleWorkerMs: 30_000,
  heapMegabytes: 384,
  nurseryMegabytes: 8,
  /** Transactions searched for the addresses of hashed keys. */
  addressTransactions: 20_000,
  /** Results of debug_accountRange and debug_storageRangeAt per response. */
  rangeResults: 256,
  storageResults: 1_024,
  /** debug_getModifiedAccounts: blocks compared, and accounts returned. */
  modifiedBlocks: 128,
  modifiedAccounts: 10_000,
} as const

/** Limits of one eth_simulateV1. */
export const SIMULATE_LIMITS = {
  /** Counted from the base block, with the empty ones before a given number. */
  blocks: 256,
  /** Calls in all blocks together. */
  calls: 5_000,
  /** Return data and logs, before hex encoding. */
  answerBytes: 8 * 1024 * 1024,
  /** Accounts and slots that the blocks change: the trie's thread computes the state roots of all of them in one task. */
  changes: 20_000,
  /** Accounts and slots of the blocks before each BLOCKHASH of a simulated block, summed. */
  hashedChanges: 100_000,
} as const

/** Requests for the explorer, which the public port passes on to its process. */
export const FORWARD_LIMITS = {
  /** Requests in progress, of all clients and of one: more than the explorer itself lets wait. */
  requests: { total: 2_048, client: 128 },
  /** Responses that their clients have not read, bytes: of all, of one client, and of each that is not counted. */
  unread: { total: 96 * 1024 * 1024, client: 32 * 1024 * 1024, free: 64 * 1024 },
  /** Time that a client may take nothing of a response, and bytes that it takes in each millisecond at least on average. */
  stallMs: 15_000,
  bytesPerMs: 64,
  /** Longest pause of the explorer within a response; longer than any of its own limits. */
  silenceMs: 75_000,
  /** Time from the start of the process until it listens, after which it is killed. */
  startMs: 60_000,
  /** Delay before the process is started again: doubled each time, and the first one after it ran for `steadyMs`. */
  firstRestartMs: 1_000,
  lastRestartMs: 30_000,
  steadyMs: 60_000,
  /** Time to end after a signal, after which it is killed: a node ends within a second. */
  stopMs: 600,
} as const
