import { CLIENT_LIMITS } from './limits/clients.ts'

/** Limits of queues, caches, loops and messages. Units are in the names. */
export const LIMITS = {
  ...CLIENT_LIMITS,
  /** Milliseconds of work per event-loop turn while a block is executed, and while a call runs. */
  execution: { sliceMs: 10, callSliceMs: 5 },
  pool: {
    slotBytes: 8 * 1024,
    accountPending: 16,
    accountQueued: 64,
    pending: 16_384,
    queued: 4_096,
    replacementBumpPercent: 10,
    queuedLifetimeMs: 3 * 3_600_000,
    sweepMs: 60_000,
    /** Transactions that took too long for a block of this node: number remembered, duration, and number tried first next time. */
    quarantined: 512,
    quarantineMs: 30 * 60_000,
    retried: 64,
    journalBytes: 64 * 1024 * 1024,
  },
  block: {
    buildMs: 250,
    /** Minimum of that time where others are slow (consensus/timing/build-budget.ts). */
    leastBuildMs: 10,
    transactionBytes: 128 * 1024,
    /** Code size of a contract, where the chain's parameters set none; init code may have twice as many bytes. */
    codeBytes: 24 * 1024,
    bodyBytes: 4 * 1024 * 1024,
    /** Header in a message of a peer: the certificate of the largest committee takes 9 KB. */
    headerBytes: 16 * 1024,
    futureSeconds: 1,
    /** Time of one transaction where a lone validator decides: enough for all of its gas. */
    loneTransactionMs: 10_000,
    /** A transaction below this gas limit is tried in a block however much time others took. */
    lightGas: 2_000_000n,
    /** Maximum lead of a build before its block time. */
    headStartMs: 150,
  },
  /** Strict decoding of one item; no message of this protocol nests deeper than 6. */
  rlp: { depth: 16, items: 262_144 },
  genesis: { codeBytes: 1024 * 1024, extraDataBytes: 4_096, vanityBytes: 32 },
  recovery: { batch: 64, queue: 65_536, blockQueue: 262_144 },
  trie: {
    undoLayers: 8,
    /** Proofs and previews, of the newest state and of older ones each; a longer wait ends with an error. */
    proofs: { queued: 256, waitMs: 5_000 },
  },
  /** LevelDB handle; two write buffers may be in memory at once. */
  storage: {
    cacheBytes: 4 * 1024 * 1024,
    writeBufferBytes: 4 * 1024 * 1024,
    maxOpenFiles: 512,
    /** Emptied batches kept for the next block; each keeps the memory of its largest use. */
    idleBatches: 2,
    scanRows: 1_000,
    scanBytes: 256 * 1024,
  },
  state: {
    accountCache: 65_536,
    slotCache: 262_144,
    codeCacheBytes: 16 * 1024 * 1024,
    historyBlocks: 128,
    proofRollbackEntries: 20_000,
    /** Changed entries up to which an older state is available for synchronous reads. */
    overlayEntries: 5_000,
    /** Reverse diffs pruned per block when there are more than the history length. */
    pruneBlocksPerCommit: 8,
  },
  /** Council contract, which defines the first value itself: members, and bytes of a name. */
  council: {
    members: 256,
    nameBytes: 32,
    /** Minimum of serving members, however many are silent or jailed, where there are enough (docs/design/council.md#qualification). */
    leastServing: 4,
    /** Recently read cycles. */
    cachedCycles: 64,
  },
  /** Evidence in one block: items and bytes; one with a justification of the largest committee fits. */
  /** Of proof headers: what is kept, and what is verified at once; see also powchain/core.ts. */
  proofChain: {
    verifiedHeaders: 1_024,
    cachedStates: 64,
    /** Headers kept whose parent or anchor is not known yet. */
    earlyHeaders: 64,
    /** Longest chain of pending headers above the final tip. */
    pendingDepth: 16,
    /** Headers in verification at once: Argon2id takes 4 MiB each. */
    verifying: 8,
  },
  evidence: { items: 16, bytes: 48 * 1024 },
  consensus: {
    futureHeights: 10,
    futureRounds: 8,
    bufferedMessages: 1_000,
    evidence: 1_000,
    /** Heights below the open one whose votes are still compared, and statements kept per member and height. */
    evidenceHeights: 2,
    statements: 256,
    retransmitMs: 500,
    maxTimeoutExponent: 6,
    timeoutCapMs: 60_000,
    walBytes: 16 * 1024 * 1024,
    /** Largest committee a genesis may set; no list in a consensus message is longer. */
    committee: 128,
    pastRounds: 64,
    /** Bodies of one height kept for late decisions; others are requested by hash. */
    heldBlocks: 8,
    /** Cached signature recoveries: signatures reappear in justifications and certificates. */
    cachedSignatures: 8_192,
    /** Neighbours that are sent a whole height at one time. */
    answers: 16,
    /** Clock skew: proposers compared, proposals of each at least and at most, and the skew that is logged. */
    skew: { proposers: 128, least: 4, offsets: 8, warnMs: 250 },
    /** Validators times message types counted separately. */
    watchedVotes: 1_024,
    /** One piece of evidence: an unjustified proposal holds two quorums. */
    evidenceBytes: 64 * 1024,
    voteBytes: 32 * 1024,
    proposalBytes: 5 * 1024 * 1024,
  },
  chain: {
    blockCacheBytes: 8 * 1024 * 1024,
    receiptCacheBytes: 4 * 1024 * 1024,
    /** Rows of blocks read for single transactions or receipts. */
    rowCacheBytes: 4 * 1024 * 1024,
    /** Tips of blocks read by fee history: a few per block. */
    tipCacheBytes: 1024 * 1024,
    hashCache: 1_024,
    candidates: 8,
    pendingTransactions: 1_000,
    pendingBuildMs: 50,
    /** Remembered transactions that took too long for it. */
    pendingSlow: 1_024,
    logSliceBlocks: 64,
    /** Log queries over ranges: queued in total and per client, running in total and per client, and index iterators open for one. */
    logQueries: 256,
    clientLogQueries: 128,
    logsInFlight: 3,
    clientLogsInFlight: 2,
    logWalks: 16,
    /** Decoded logs, cached by the main thread and by the log worker. */
    logCacheBytes: 4 * 1024 * 1024,
  },
  /** Block sync (chain/sync). */
  sync: {
    /** Range requests under way, and ranges requested or waiting for import. */
    parallel: 4,
    pieces: 8,
    /** Failures of the next range until a run is given up, and the pause after each. */
    attempts: 3,
    retryMs: 500,
    /** Wait for the next range: while the engine is stopped for the run, and until a second peer is asked. */
    awayMs: 250,
    lateMs: 1_000,
    /** Range requests per second, and at once: below what one peer accepts. 128 blocks each are 2,560 a second. */
    asks: { perSecond: 20, burst: 20 },
    paceMs: 50,
    /** Peers asked for the next range at once. */
    askedAtOnce: 3,
    /** A member this little behind gets decisions from its neighbours, unless that takes longer than `patienceMs`. */
    nearBlocks: 2,
    patienceMs: 3_000,
    tickMs: 1_000,
    /** Time between the starts of two runs: a peer answers so many requests a second. */
    spacingMs: 200,
    /** Duration for which a peer is on hold that lacked what it claimed: at first, and at most. */
    holdMs: 2_000,
    holdCapMs: 60_000,
    /** Peers whose deliveries are remembered. */
    sources: 512,
    /** Pause after a run that failed on this side. */
    pauseMs: 2_000,
    /** The senders of a block with more transactions are recovered only at its import. */
    aheadTransactions: 16_384,
    /** Interval of log lines. */
    progressMs: 1_000,
  },
  /** Snapshots of the state (state/snapshot, chain/snapshot). The first two are part of format 2: a change makes another format. */
  snapshot: {
    /** Size of a chunk, unless it is one account. */
    chunkBytes: 1024 * 1024,
    /** Accounts with more bytes of slots have chunks of their own. */
    inlineBytes: 64 * 1024,
    /** Default of blocks between two snapshots: whole cycles, three hours of seconds. */
    intervalBlocks: 10_800,
    /** Snapshots kept; the older one is for peers that are fetching it. */
    kept: 2,
    /** Bytes collected for one write of a file. */
    writeBytes: 1024 * 1024,
    /** Chunks requested or waiting for import, and requests per second: fewer than a peer answers. */
    parallel: 6,
    requestsPerSecond: 40,
    /** Codes in one request, and in one response besides its byte limit. */
    codes: 256,
    /** Blocks before a snapshot that a chain needs at once: the reach of BLOCKHASH. */
    ancestors: 256,
    /** Consecutive chunks that no peer had until another snapshot is chosen, and the pause after each. */
    attempts: 5,
    retryMs: 1_000,
    /** The pause grows with each attempt up to this many of them. */
    pauses: 30,
    /** Wait for peers before a node without a snapshot syncs by blocks, and the interval of checks. */
    patienceMs: 15_000,
    lookMs: 500,
    /** Manifests compared before one is chosen, and peers whose headers are used to prove its block. */
    manifests: 8,
    witnesses: 6,
    /** Steps between the trust anchor and a snapshot (chain/snapshot/sync/skipping-verification.ts). */
    trustSteps: 64,
    /** Maximum age of the anchor: below the unbonding time of validators (docs/design/snapshot-sync.md#trust). */
    trustSeconds: 14 * 24 * 3_600,
    /** Blocks of history in one request, and the pause between two while the node serves. */
    historyBlocks: 64,
    historyPauseMs: 250,
  },
  /** Development helpers. */
  dev: {
    /** Rows in one batch of a rewind; a longer one takes several. */
    rewindRows: 50_000,
    snapshots: 10_000,
    /** Blocks of one evm_mine or hardhat_mine. */
    mineBlocks: 100_000,
    /** Time limit of one requested block. */
    mineMs: 30_000,
    impersonated: 10_000,
    /** Size of a state to load, packed and unpacked, and of a dumped one. */
    stateBytes: 64 * 1024 * 1024,
  },
  /** Typed data to sign (EIP-712): its JSON, its declared types, and the nesting of a message. */
  typedData: { jsonBytes: 128 * 1024, types: 64, depth: 32 },
  /** Recorded chain: file size, number of blocks, and the gas of a simulation when the responses were recorded. */
  fixture: { chainBytes: 64 * 1024 * 1024, blocks: 10_000, simulationGas: 50_000_000n },
  /** `tandem statetest`: files read ahead of the output per thread, and the heap of one thread. */
  stateTest: { fileBytes: 64 * 1024 * 1024, jobs: 64, filesAheadPerJob: 8, heapMegabytes: 1_024 },
  /** Key files and their passwords: sizes, and the cost of decrypting a keystore. */
  keys: {
    fileBytes: 64 * 1024,
    passwordBytes: 4_096,
    scryptBytes: 512 * 1024 * 1024,
    /** n x r x p; the usual file has 2^21, which takes about a second. */
    scryptWork: 2 ** 23,
    /** Rounds per 32 derived bytes; 10 million take some seconds. */
    pbkdf2Rounds: 10_000_000,
    /** Files in a keystore folder. */
    files: 1_000,
    /** Signing record: its size, validators, and positions of each. */
    recordBytes: 1024 * 1024,
    recordSigners: 256,
    recordPositions: 4_096,
  },
  /** Peers and their messages (docs/network.md). Channels and messages declare their own limits. */
  network: {
    /** Default port for peers. */
    defaultPort: 30_333,
    /** Peers besides the reserved slots, which are for committee members and static peers. */
    inbound: 40,
    outbound: 16,
    reserved: 160,
    /** Per address (an IPv4 address, or the /64 of an IPv6 one); the loopback belongs to the operator and is not counted. */
    perAddress: 8,
    /** Nodes that represent one validator: its own, and the previous one after a move. */
    perValidator: 2,
    /** Connections before their handshake, in total and per address, and the rate per address. */
    pending: 64,
    pendingPerAddress: 32,
    connectsPerSecond: 4,
    connectsBurst: 64,
    addresses: 4_096,
    /** Time from the connection to the end of the handshake. */
    handshakeMs: 5_000,
    dialMs: 3_000,
    /** Payload of a frame; longer messages use several, so that a vote waits for one of them at most. */
    fragmentBytes: 64 * 1024,
    /**
     * Time within which a message must be complete, plus the time for its length at the slowest rate; also the longest time a peer may
     * accept no bytes.
     */
    messageMs: 20_000,
    bytesPerMs: 64,
    /** Size of unrequested, incomplete messages of several frames, of all peers outside the committee. */
    partialBytes: 64 * 1024 * 1024,
    /** Members-only messages from a non-member, which may be a member not known yet. */
    outsiders: { perSecond: 60, burst: 240 },
    pingMs: 10_000,
    /** Silence after which a peer is disconnected. */
    silenceMs: 30_000,
    /** Blocks of one peer being decoded. */
    decoding: 4,
    /** Cached decoded blocks, since all neighbours send the same: proposals and decisions of about two heights. */
    decodedBlocks: 8,
    /** Requests to one peer under way, requests of one peer being answered, and the time limit of a response. */
    requests: 8,
    serving: 4,
    requestMs: 10_000,
    /** Peers asked before a request fails. */
    attempts: 4,
    /** Soft limit of a response; one item always fits. */
    answerBytes: 2 * 1024 * 1024,
    blocksPerRequest: 128,
    receiptsPerRequest: 128,
    snapshotChunks: 65_536,
    chunkBytes: 4 * 1024 * 1024,
    /** Hashes in one announcement and in one request, and bytes of one batch of transactions. */
    announcedHashes: 4_096,
    requestedHashes: 256,
    batchBytes: 1024 * 1024,
    /** Time for which new transactions are collected before they are sent. */
    batchMs: 20,
    batchItems: 4_096,
    /** Hashes that a peer is known to have, those wanted from one peer and from all, alternative peers for one, and refused ones. */
    knownTransactions: 8_192,
    wantedPerPeer: 4_096,
    wantedTransactions: 131_072,
    announcers: 4,
    refusedTransactions: 16_384,
    /** Received transactions being admitted by the pool. */
    admitting: 2_048,
    lookedAtOnce: 64,
    /** Received bytes that wait for that, per peer, and the interval at which those without quota are checked again. */
    heldBytes: 1024 * 1024,
    heldMs: 250,
    /** Transactions of one peer that the pool refused or is checking; more are not accepted: each check costs a signature recovery. */
    refusals: { perSecond: 50, burst: 2_048 },
    /** Blocks and evidence that a peer is known to have. */
    knownItems: 512,
    /** Relayed statements, and the interval after which one may be relayed again: the sender resends what may have been lost. */
    relayed: 16_384,
    relayAgainMs: 400,
    /** Disconnected peers that can still be scored. */
    gonePeers: 256,
    /** Faults of this node caused by bytes of peers: interval of logging one peer's, peers remembered, and log rate. */
    faultAgainMs: 60_000,
    faultPeers: 256,
    faultLines: { perSecond: 0.2, burst: 10 },
    /** Bytes of blocks sent to one peer for its status messages. */
    blockAnswers: { perSecond: 16 * 1024 * 1024, burst: 32 * 1024 * 1024 },
    /** Delay for collecting changes of reachability. */
    linksMs: 50,
    /** Peer records kept, and in one response; interval of requests to peers. */
    records: 1_024,
    recordsPerAnswer: 64,
    recordBytes: 512,
    askRecordsMs: 60_000,
    clientBytes: 128,
    /**
     * Dialing: pause after the first failure, the longest pause, that of static peers and members, that after a refusal that will not
     * change soon, and failures until an address is dropped.
     */
    dialing: 8,
    backoffMs: 1_000,
    backoffCapMs: 5 * 60_000,
    wantedCapMs: 4_000,
    incompatibleMs: 10 * 60_000,
    forgetAfter: 10,
    /** Duration after which a connection resets the failures. */
    stableMs: 30_000,
    dialTickMs: 500,
    /** Delay before a new node is dialed whose turn it is to dial. */
    yieldMs: 500,
    staticPeers: 256,
    /** Peer scores: from 0 to -100, halved towards 0 in each half-life. */
    halfLifeMs: 10 * 60_000,
    disconnectScore: -20,
    banScore: -50,
    banMs: 30 * 60_000,
    reservedBanMs: 60_000,
    /** Banned nodes of one address until the address is banned too. */
    bansPerAddress: 3,
    standings: 4_096,
    storeBytes: 4 * 1024 * 1024,
    storeMs: 60_000,
  },
  /** `tandem localnet`: a network of processes on one machine. */
  localnet: {
    validators: 31,
    full: 16,
    accounts: 1_000,
    portsPerNode: 10,
    /** Time from the first process to the first block, after which a warning is printed. */
    readyMs: 60_000,
    /** Interval of status requests, while the first block is awaited and later, and their time limit. */
    startPollMs: 100,
    pollMs: 500,
    answerMs: 1_000,
    hashMs: 10_000,
    /** Interval of status lines without a terminal. */
    plainMs: 10_000,
    /** Time after the signal until a node is killed: everything ends within two seconds. */
    stopMs: 1_300,
    /** A signal that ended a node may have been sent to all: time to wait for it here. */
    signalMs: 100,
    /** Log of a dead node: lines printed, and bytes of its end that are read. */
    tailLines: 12,
    tailBytes: 16 * 1024,
    /** Size above which a log is renamed at the next start. */
    logBytes: 64 * 1024 * 1024,
    /** Blocks whose hashes are compared between nodes. */
    comparedBlocks: 1_024,
    /** Chaos: time for the nodes to be in sync again after a wave, and the allowed difference in blocks. */
    recoverMs: 60_000,
    inStepBlocks: 2,
  },
  /** `tandem sim`: limits of one run, and attempts at shrinking a failing one. */
  simulation: {
    nodes: 31,
    heights: 100_000,
    faults: 100_000,
    events: 50_000_000,
    shrinkRuns: 200,
    traceLines: 60,
    jobs: 64,
  },
  /** Young generation of worker threads with short-lived garbage: a large one only grows the process. */
  workers: { nurseryMegabytes: 4 },
} as const
