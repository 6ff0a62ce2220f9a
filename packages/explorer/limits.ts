/** Bounds of the explorer (docs/design/explorer.md). */
export const EXPLORER_LIMITS = {
  index: {
    /**
     * Blocks that are read and held at once, and their rows: whichever is reached first ends a batch. Rows are those of transactions and of transfers of both
     * kinds: 256 gas of a log of ERC-1155 are one, so that a block may have hundreds of thousands.
     */
    batchBlocks: 256,
    batchRows: 20_000,
    /** Rows of the batches that one transaction of the index takes in during a backfill. */
    bulkRows: 100_000,
    bulkMs: 5_000,
    /** Blocks of the first request, and gas of those whose receipts are read at once. */
    readBlocks: 8,
    readGas: 60_000_000n,
    /** Entries of one ERC-1155 batch; a larger one is left out whole. */
    batchEntries: 4_096,
    /** A look at the head without being told of it. */
    pollMs: 2_000,
    /** Time after failures before the next attempts: from the first to the last, each twice the one before. */
    firstRetryMs: 250,
    lastRetryMs: 5_000,
    /** Time between two lines of the log about the backfill. */
    progressMs: 5_000,
    /** Blocks behind the head from which it is called backfill. */
    behindBlocks: 50,
    /** Blocks behind from which an empty index is filled without the indexes of its lists; more than `maxLag`. */
    backfillBlocks: 2_000,
    /** Blocks that a chain which is none of development may take back; the index is left alone where it would be more. */
    takenBack: 1_000,
  },
  /** Index in PostgreSQL: connections of the thread that answers, and time limits. */
  postgres: {
    connections: 8,
    connectMs: 3_000,
    queryMs: 5_000,
    /** Silence of the database after which the writer asks whether it is still at work. */
    silenceMs: 4_000,
    /** Silence after which the server takes a connection for lost. */
    keepAlive: { idleSeconds: 15, intervalSeconds: 5, count: 3, idleTransactionMs: 120_000 },
  },
  /** Node of an explorer that runs by itself. */
  node: {
    connectMs: 10_000,
    answerMs: 30_000,
    answerBytes: 64 * 1_024 * 1_024,
    /** Time between two signs of life that a connection must give. */
    pingMs: 15_000,
    /** Calls that are passed on for clients at once, in total and of one: their answers are held here and by the node. */
    passed: { total: 6, client: 2 },
    /** Bytes that a node keeps of what a failed transaction returned. */
    failureBytes: 1_024,
    /** Time between two attempts to connect. */
    firstRetryMs: 250,
    lastRetryMs: 5_000,
  },
  /** Files of API keys and of sources of prices; file of labels. */
  listBytes: 1_024 * 1_024,
  labelBytes: 64 * 1_024 * 1_024,
  /** Calls that ask a token what it is. */
  token: { gas: 1_000_000n, callMs: 500, perStep: 4, nameChars: 64, symbolChars: 32, answerBytes: 4_096 },
  /** Young generation of each of its threads, as those of the node have it. */
  nurseryMegabytes: 24,
  /** Heap of each of its threads: one that needs more is ended, and started again; the node goes on. */
  threadMegabytes: 1_024,
  api: {
    /**
     * Requests that the reading thread works at, and that wait for it, of all clients and of one. Some of the first only wait themselves: for
     * a node, a database, the index, a compilation.
     */
    running: { total: 32, client: 4 },
    waiting: { total: 256, client: 64 },
    /** Time of a request, with its wait. */
    timeoutMs: 10_000,
    /** The thread may take this long to start, or wait so long for the index to be opened. */
    startMs: 60_000,
    urlBytes: 8 * 1_024,
    bodyBytes: 256 * 1_024,
    /** Time after a failure of the thread before it is started again. */
    restartMs: 1_000,
    /** Entries of a list. */
    defaultLimit: 25,
    maxLimit: 100,
    maxOffset: 100_000,
    /** Rows of a list that is taken as a file. */
    csvRows: 1_000,
    searchChars: 100,
    searchResults: 10,
    days: { default: 30, max: 365 },
    /** Entries of one transaction or address. */
    tokenBalances: 50,
    transfers: 1_000,
    authorizations: 32,
    logs: 1_000,
    /** Length of the ABIs that a transaction is decoded by: an event of 20 bytes in a source has 100 in its ABI, and a hash. */
    abiChars: 2 * 1_024 * 1_024,
    blockHashes: 100,
    /** Bytes of calldata or of one log, and of all logs, in a response. */
    dataBytes: 128 * 1_024,
    logBytes: 2 * 1_024 * 1_024,
    /** Data of all logs in one response of the module API. */
    moduleLogBytes: 12 * 1_024 * 1_024,
    /** Calldata of all transactions of a list that has it whole. */
    inputBytes: 8 * 1_024 * 1_024,
    /** Blocks behind the head of the chain that the index may be before answers are refused. */
    maxLag: 1_000,
  },
  /**
   * Answers that are being read, without those of at most `free` bytes: what they hold, of all clients and of one. A reader that takes none of
   * the next piece in `stallMs`, or less than `bytesPerMs` on average, is dropped.
   */
  unread: {
    total: 96 * 1_024 * 1_024,
    client: 32 * 1_024 * 1_024,
    free: 16 * 1_024,
    pieceBytes: 64 * 1_024,
    stallMs: 15_000,
    bytesPerMs: 64,
  },
  verification: {
    /** Size of a submission as it arrives, with its encoding. */
    bodyBytes: 8 * 1_024 * 1_024,
    /** Submissions that are being read, of all clients and of one. */
    bodies: { total: 4, client: 2 },
    sourceBytes: 5 * 1_024 * 1_024,
    sources: 500,
    remappings: 200,
    /** Objects inside of each other, in one setting. */
    settingDepth: 8,
    pathChars: 500,
    /** One compilation: processor time, and time on a machine that has little of it to spare. */
    compileCpuSeconds: 30,
    compileMs: 300_000,
    outputBytes: 8 * 1_024 * 1_024,
    heapMegabytes: 512,
    /** Memory of the compiler, in pages of 64 KiB. */
    wasmPages: 16_384,
    /** Submissions that wait, of all clients and of one. */
    queued: 20,
    queuedPerClient: 2,
    /** Time in the queue; then the client must submit again. */
    waitMs: 60_000,
    /** Verified source code with its ABI, which stays on the disk: in a day, of all clients and of one. */
    stored: { dayBytes: 1_024 * 1_024 * 1_024, clientDayBytes: 64 * 1_024 * 1_024, clients: 10_000 },
    /** Results that can still be asked for. */
    jobs: 1_000,
    /** A request for a result waits for it, at most this long, and at most so many at once: fewer than requests may run. */
    pollMs: 9_000,
    polls: 16,
  },
  contract: {
    /** Functions of a contract on a page. */
    functions: 250,
    /** Functions without arguments whose values the page shows at once, and gas of each. */
    firstCalls: 8,
    firstCallGas: 200_000,
    /** Gas of a call that somebody asks for. */
    callGas: 10_000_000,
    /** Length of one value, and of the response with all values. */
    valueChars: 4_096,
    answerChars: 256 * 1_024,
    /** Source code of a contract on a page; the API has the rest. */
    sourceChars: 400_000,
    /** Size of a refused submission that the form shows again. */
    formChars: 512 * 1_024,
  },
  /** Port of an explorer that runs by itself. */
  http: { requestMs: 30_000, connectionMs: 60_000, connections: 4_096 },
  /** Home pages that follow the chain. */
  live: { total: 256, perClient: 12, bufferedBytes: 64 * 1_024, heartbeatMs: 15_000 },
  rate: { windowMs: 60_000, free: 100, pro: 1_000, clients: 20_000 },
} as const
