import { CLIENT_LIMITS } from './limits/clients.ts'

/** Every bound of a queue, cache, loop or message, in one place. Units are in the names. */
export const LIMITS = {
  ...CLIENT_LIMITS,
  /** Work between two turns of the event loop while a block is executed, and while a call runs. */
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
    /** Transactions that took too long for a block of this node: how many are remembered, for how long, and those tried first next time. */
    quarantined: 512,
    quarantineMs: 30 * 60_000,
    retried: 64,
    journalBytes: 64 * 1024 * 1024,
  },
  block: {
    buildMs: 250,
    /** What is left of it where others are slow (consensus/timing/build-budget.ts). */
    leastBuildMs: 10,
    transactionBytes: 128 * 1024,
    /** Of a contract, where the chain's parameters name no other; init code may have twice as many. */
    codeBytes: 24 * 1024,
    bodyBytes: 4 * 1024 * 1024,
    /** Header in a message of a peer: the certificate of the largest committee makes 9 KB. */
    headerBytes: 16 * 1024,
    futureSeconds: 1,
    /** The longest that one transaction may take where one validator decides alone: all that its gas can buy. */
    loneTransactionMs: 10_000,
    /** A transaction that may use no more is tried in a block whatever others took. */
    lightGas: 2_000_000n,
    /** Before its time a block is begun at most. */
    headStartMs: 150,
  },
  /** Strict decoding of one item; no message of ours nests deeper than 6. */
  rlp: { depth: 16, items: 262_144 },
  genesis: { codeBytes: 1024 * 1024, extraDataBytes: 4_096, vanityBytes: 32 },
  recovery: { batch: 64, queue: 65_536, blockQueue: 262_144 },
  trie: {
    undoLayers: 8,
    /** Proofs and previews, of the newest state and of older ones each; whoever waits longer is told to come again. */
    proofs: { queued: 256, waitMs: 5_000 },
  },
  /** Of the LevelDB handle; two write buffers may be in memory at once. */
  storage: {
    cacheBytes: 4 * 1024 * 1024,
    writeBufferBytes: 4 * 1024 * 1024,
    maxOpenFiles: 512,
    /** Emptied batches kept for the next block; each holds the memory of the largest it has been. */
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
    /** Entries changed since, up to which an older state is offered for synchronous reads. */
    overlayEntries: 5_000,
    /** Old reverse diffs removed with one block when there are more than the length of history. */
    pruneBlocksPerCommit: 8,
  },
  /** Of the council contract, which names the first itself: members, and text that names one. */
  council: {
    members: 256,
    nameBytes: 32,
    /** However many are silent or jailed, so many serve where there are so many (docs/design/council.md#qualification). */
    leastServing: 4,
    /** Cycles asked for lately. */
    cachedCycles: 64,
  },
  /** Of one block: accusations, and their bytes; one with a justification of the largest committee fits. */
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
    /** Heights below the open one whose votes are still held against each other, and statements kept of a member at one height. */
    evidenceHeights: 2,
    statements: 256,
    retransmitMs: 500,
    maxTimeoutExponent: 6,
    timeoutCapMs: 60_000,
    walBytes: 16 * 1024 * 1024,
    /** Largest committee any genesis may ask for; no list in a consensus message is longer. */
    committee: 128,
    pastRounds: 64,
    /** Bodies of one height kept for late decisions; the rest is asked for by hash. */
    heldBlocks: 8,
    /** Recovered signatures remembered: they come again in justifications and certificates. */
    cachedSignatures: 8_192,
    /** Neighbours being sent a whole height at one time. */
    answers: 16,
    /** Clocks: how many proposers, and of each how many proposals at least and at most, are compared, and what is told the operator. */
    skew: { proposers: 128, least: 4, offsets: 8, warnMs: 250 },
    /** Validators times types of messages counted apart. */
    watchedVotes: 1_024,
    /** One piece of evidence: an unjustified proposal holds two quorums. */
    evidenceBytes: 64 * 1024,
    voteBytes: 32 * 1024,
    proposalBytes: 5 * 1024 * 1024,
  },
  chain: {
    blockCacheBytes: 8 * 1024 * 1024,
    receiptCacheBytes: 4 * 1024 * 1024,
    /** Rows of blocks asked for single transactions or receipts. */
    rowCacheBytes: 4 * 1024 * 1024,
    /** Tips of blocks asked for by fee history: a few each. */
    tipCacheBytes: 1024 * 1024,
    hashCache: 1_024,
    candidates: 8,
    pendingTransactions: 1_000,
    pendingBuildMs: 50,
    /** Transactions remembered that took too long for it. */
    pendingSlow: 1_024,
    logSliceBlocks: 64,
    /** Log queries over ranges: waiting in all and of one client, running in all and of one client, and index walks open for one. */
    logQueries: 256,
    clientLogQueries: 128,
    logsInFlight: 3,
    clientLogsInFlight: 2,
    logWalks: 16,
    /** Decoded logs, kept by the main thread and by that of log queries. */
    logCacheBytes: 4 * 1024 * 1024,
  },
  /** Catching up with peers (chain/sync). */
  sync: {
    /** Requests for ranges under way, and ranges under way or waiting to be imported. */
    parallel: 4,
    pieces: 8,
    /** Failures of the next range until a try is given up, and the pause after each. */
    attempts: 3,
    retryMs: 500,
    /** How long the next range is waited for: with the engine away from its height, and until another peer is asked for it as well. */
    awayMs: 250,
    lateMs: 1_000,
    /** Ranges asked for in a second, and at once: below what one peer bears. 128 blocks each are 2,560 a second. */
    asks: { perSecond: 20, burst: 20 },
    paceMs: 50,
    /** Peers asked for the next range at once. */
    askedAtOnce: 3,
    /** A member so little behind is told by its neighbours, unless that takes longer than this. */
    nearBlocks: 2,
    patienceMs: 3_000,
    tickMs: 1_000,
    /** Between the beginnings of two tries: a peer answers so many requests a second. */
    spacingMs: 200,
    /** How long the word of a peer does not count that had not what it claimed: at first, and at most. */
    holdMs: 2_000,
    holdCapMs: 60_000,
    /** Peers of whom is remembered whether they delivered. */
    sources: 512,
    /** After a try that failed on this side. */
    pauseMs: 2_000,
    /** A block with more of them has its senders recovered only when it is its turn. */
    aheadTransactions: 16_384,
    /** Between two lines in the log. */
    progressMs: 1_000,
  },
  /** Snapshots of the state (state/snapshot, chain/snapshot). The first two are part of format 2: changed, they are another format. */
  snapshot: {
    /** Of a chunk, unless it is one account. */
    chunkBytes: 1024 * 1024,
    /** Slots of an account that are more bytes than this stand in chunks of their own. */
    inlineBytes: 64 * 1024,
    /** Blocks between two snapshots by default: whole cycles, three hours of seconds. */
    intervalBlocks: 10_800,
    /** Snapshots kept; the older one is for who is fetching it. */
    kept: 2,
    /** Bytes gathered for one write of a file. */
    writeBytes: 1024 * 1024,
    /** Chunks asked for or waiting to be imported, and requests begun in a second: less than a peer answers. */
    parallel: 6,
    requestsPerSecond: 40,
    /** Codes in one request, and in one answer beside its bytes. */
    codes: 256,
    /** Blocks before a snapshot that a chain needs at once: BLOCKHASH reaches so far. */
    ancestors: 256,
    /** Chunks in a row that nobody had until another snapshot is looked for, and the pause after each. */
    attempts: 5,
    retryMs: 1_000,
    /** The pause grows with each try up to so many of them. */
    pauses: 30,
    /** How long peers are awaited before a node that has none goes on with blocks, and how often they are looked at. */
    patienceMs: 15_000,
    lookMs: 500,
    /** Manifests looked at before one is chosen, and peers whose headers are walked to prove its block. */
    manifests: 8,
    witnesses: 6,
    /** Steps between the trust anchor and a snapshot (chain/snapshot/sync/skipping-verification.ts). */
    trustSteps: 64,
    /** So old may the anchor be: below the unbonding time of validators (docs/design/snapshot-sync.md#trust). */
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
    /** How long one block asked for may take. */
    mineMs: 30_000,
    impersonated: 10_000,
    /** Of a state to load, as it comes and unpacked, and of one that is dumped. */
    stateBytes: 64 * 1024 * 1024,
  },
  /** Typed data to sign (EIP-712): its JSON, the types it may declare, and how deep a message may be nested. */
  typedData: { jsonBytes: 128 * 1024, types: 64, depth: 32 },
  /** A recorded chain: the size of its file, how many blocks it may hold, and the gas of a simulation when answers were recorded. */
  fixture: { chainBytes: 64 * 1024 * 1024, blocks: 10_000, simulationGas: 50_000_000n },
  /** `tandem statetest`: files read ahead of the output, for each thread, and what one thread may hold. */
  stateTest: { fileBytes: 64 * 1024 * 1024, jobs: 64, filesAheadPerJob: 8, heapMegabytes: 1_024 },
  /** Key files and their passwords: sizes, and what a keystore may ask for when it is opened. */
  keys: {
    fileBytes: 64 * 1024,
    passwordBytes: 4_096,
    scryptBytes: 512 * 1024 * 1024,
    /** n x r x p; the usual file has 2^21, which takes about a second. */
    scryptWork: 2 ** 23,
    /** For each 32 bytes of what is derived; 10 million take some seconds. */
    pbkdf2Rounds: 10_000_000,
    /** Of a keystore folder. */
    files: 1_000,
    /** Of a signing record: its size, validators, and positions of each. */
    recordBytes: 1024 * 1024,
    recordSigners: 256,
    recordPositions: 4_096,
  },
  /** Peers and what they send (docs/network.md). Channels and messages have their own figures beside their declaration. */
  network: {
    /** Where a node takes peers unless told otherwise. */
    defaultPort: 30_333,
    /** Peers besides the reserved places, which are for committee members and static peers. */
    inbound: 40,
    outbound: 16,
    reserved: 160,
    /** Of one address (an IPv4 address, or the /64 of an IPv6 one); the loopback is an operator's own and not counted. */
    perAddress: 8,
    /** Nodes that speak for one validator: its own, and the one it had before a move. */
    perValidator: 2,
    /** Connections that have not said who they are, in all and of one address, and how fast an address may open them. */
    pending: 64,
    pendingPerAddress: 32,
    connectsPerSecond: 4,
    connectsBurst: 64,
    addresses: 4_096,
    /** From the connection to the last word of the handshake. */
    handshakeMs: 5_000,
    dialMs: 3_000,
    /** A frame's payload; longer messages go in several, so that a vote waits for one of them at most. */
    fragmentBytes: 64 * 1024,
    /**
     * A message must be whole after this time and what its length takes at the slowest line; so long a peer may take nothing of what
     * is sent.
     */
    messageMs: 20_000,
    bytesPerMs: 64,
    /** Claimed by messages of several frames that nobody asked for and that are not whole yet, of all peers that are not in the committee. */
    partialBytes: 64 * 1024 * 1024,
    /** Messages for members only, from a peer that is none: it may not know yet. */
    outsiders: { perSecond: 60, burst: 240 },
    pingMs: 10_000,
    /** Silence after which a peer is gone. */
    silenceMs: 30_000,
    /** Blocks of one peer being decoded. */
    decoding: 4,
    /** Decoded ones remembered, since all neighbours send the same: proposals and decisions of about two heights. */
    decodedBlocks: 8,
    /** Requests to one peer under way, those of one peer being answered, and how long an answer may take. */
    requests: 8,
    serving: 4,
    requestMs: 10_000,
    /** Peers asked before a request fails. */
    attempts: 4,
    /** Soft limit of an answer; one item always fits. */
    answerBytes: 2 * 1024 * 1024,
    blocksPerRequest: 128,
    receiptsPerRequest: 128,
    snapshotChunks: 65_536,
    chunkBytes: 4 * 1024 * 1024,
    /** Hashes in one announcement and in one request, and bytes of one batch of transactions. */
    announcedHashes: 4_096,
    requestedHashes: 256,
    batchBytes: 1024 * 1024,
    /** New transactions are gathered so long before they go out. */
    batchMs: 20,
    batchItems: 4_096,
    /** Hashes that a peer is known to have, those wanted of one peer and of all, who else may be asked for one, and those refused. */
    knownTransactions: 8_192,
    wantedPerPeer: 4_096,
    wantedTransactions: 131_072,
    announcers: 4,
    refusedTransactions: 16_384,
    /** Received ones that the pool is looking at. */
    admitting: 2_048,
    lookedAtOnce: 64,
    /** Received ones that wait for that, of each peer, and when those without quota are looked at again. */
    heldBytes: 1024 * 1024,
    heldMs: 250,
    /** Transactions of one peer that the pool refused or is looking at; beyond, no more are taken: to find each out costs a signature. */
    refusals: { perSecond: 50, burst: 2_048 },
    /** Blocks and evidence that a peer is known to have. */
    knownItems: 512,
    /** Statements relayed, and when one may be relayed again: the sender repeats what may have been lost. */
    relayed: 16_384,
    relayAgainMs: 400,
    /** Peers that left and can still be blamed. */
    gonePeers: 256,
    /** Faults of this node that bytes of peers bring about: when one is logged again for a peer, peers remembered, and lines in all. */
    faultAgainMs: 60_000,
    faultPeers: 256,
    faultLines: { perSecond: 0.2, burst: 10 },
    /** Bytes of blocks that one peer is sent for its statuses. */
    blockAnswers: { perSecond: 16 * 1024 * 1024, burst: 32 * 1024 * 1024 },
    /** Changes of who reaches whom are gathered so long. */
    linksMs: 50,
    /** Peer records kept, and in one answer; how often peers are asked. */
    records: 1_024,
    recordsPerAnswer: 64,
    recordBytes: 512,
    askRecordsMs: 60_000,
    clientBytes: 128,
    /**
     * Dialing: pause after the first failure, the longest, that of static peers and members, after a refusal that will not change soon,
     * and failures until an address is forgotten.
     */
    dialing: 8,
    backoffMs: 1_000,
    backoffCapMs: 5 * 60_000,
    wantedCapMs: 4_000,
    incompatibleMs: 10 * 60_000,
    forgetAfter: 10,
    /** A connection that lasted so long ends the row of failures. */
    stableMs: 30_000,
    dialTickMs: 500,
    /** Before a node just heard of is dialed, when it is rather that one's turn. */
    yieldMs: 500,
    staticPeers: 256,
    /** Standing: scores fall from 0 to -100, half of it is forgiven in the half-life. */
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
    /** From the first process to the first block, before somebody is told that it takes long. */
    readyMs: 60_000,
    /** Nodes are asked how they are so often, while the first block is awaited and later, and must answer within. */
    startPollMs: 100,
    pollMs: 500,
    answerMs: 1_000,
    hashMs: 10_000,
    /** Without a terminal, between two lines of status. */
    plainMs: 10_000,
    /** A node that has not ended so long after the signal is killed: all is over within two seconds. */
    stopMs: 1_300,
    /** A signal that ended a node may have been meant for all: this one is waited for so long. */
    signalMs: 100,
    /** Of a dead node's log: what is shown, and how much of its end is read for that. */
    tailLines: 12,
    tailBytes: 16 * 1024,
    /** A log longer than this is put aside at the next start. */
    logBytes: 64 * 1024 * 1024,
    /** Blocks whose hashes are compared between nodes. */
    comparedBlocks: 1_024,
    /** Chaos: a wave after which the nodes are not in step again within this time is told, blocks they may then differ by. */
    recoverMs: 60_000,
    inStepBlocks: 2,
  },
  /** `tandem sim`: of one run, and how often a failing one is tried again to make it smaller. */
  simulation: {
    nodes: 31,
    heights: 100_000,
    faults: 100_000,
    events: 50_000_000,
    shrinkRuns: 200,
    traceLines: 60,
    jobs: 64,
  },
  /** Young generation of worker threads whose garbage is short-lived: a large one only grows the process. */
  workers: { nurseryMegabytes: 4 },
} as const
