/* Peers and their messages (docs/network.md). Channels and messages declare their own limits. Units are in the names. */

/** Peers and their messages (docs/network.md). Channels and messages declare their own limits. */
export const NETWORK_LIMITS = {
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
  /** Nodes that relay for one validator, and validators for which one node relays. */
  relaysPerValidator: 4,
  relayedValidators: 16,
  /** Blocks before and after its own in which a delegation to a relay counts; it is renewed each half of them. */
  delegationBlocks: 3_600,
  /** Connections before their handshake, in total, per address, per second; as many again for members' and static addresses. */
  pending: 512,
  reservedAddresses: 512,
  pendingPerAddress: 32,
  connectsPerSecond: 4,
  connectsBurst: 64,
  addresses: 4_096,
  /** Time from the connection to the end of the handshake. */
  handshakeMs: 5_000,
  /** Interval of warnings about nodes of another chain. */
  genesisWarningMs: 60_000,
  dialMs: 3_000,
  /** Time for finding the address of a name, and names whose last address is kept. */
  lookUpMs: 1_000,
  lookedUp: 512,
  /** Payload of a frame; longer messages use several, so that a vote waits for one of them at most. */
  fragmentBytes: 64 * 1024,
  /** Time for a message beside that for its length at the slowest rate; also the longest time a peer may accept no bytes. */
  messageMs: 20_000,
  bytesPerMs: 64,
  /** Size of unrequested, incomplete messages of several frames, transactions besides, of all peers outside the committee. */
  partialBytes: 64 * 1024 * 1024,
  pingMs: 10_000,
  /** Silence after which a peer is disconnected. */
  silenceMs: 30_000,
  /** Blocks of one peer being decoded. */
  decoding: 4,
  /** Cached decoded blocks, since all neighbours send the same: proposals and decisions of about two heights. */
  decodedBlocks: 8,
  /** Requests to one peer under way, requests of one peer being served, and the time limits until a response begins and until it ends. */
  requests: 8,
  serving: 4,
  requestMs: 10_000,
  /** Peers tried before a request fails. */
  attempts: 4,
  /** Soft limit of a response; one item always fits. */
  answerBytes: 2 * 1024 * 1024,
  /** Requests of peers without a reserved slot that are served from the store at once; others wait in rotation. */
  strangersServed: 4,
  /** Responses that these peers have not taken, in bytes of all; beyond it the one that has taken nothing for longest is disconnected. */
  untakenBytes: 64 * 1024 * 1024,
  blocksPerRequest: 128,
  receiptsPerRequest: 128,
  snapshotChunks: 65_536,
  chunkBytes: 4 * 1024 * 1024,
  /** Hashes in one announcement and in one request, and bytes of one batch of transactions. */
  announcedHashes: 4_096,
  requestedHashes: 256,
  batchBytes: 1024 * 1024,
  /** Least time between two batches of new transactions, and between two announcements made for peers that join. */
  batchMs: 20,
  greetingMs: 1_000,
  /** Shorter strings are no transaction: an RLP list of nine items, one of which is a gas limit of three bytes. */
  leastTransactionBytes: 12,
  /** Transactions read from one peer, announced or whole: more than blocks hold. Further messages with them are skipped. */
  gossipedTransactions: { perSecond: 5_000, burst: 8_192 },
  /**
   * Hashes that a peer is known to have, those wanted from one peer and from all, those still wanted from a peer without a reserved slot
   * when there are that many, alternative peers for one, and refused ones.
   */
  knownTransactions: 8_192,
  wantedPerPeer: 4_096,
  wantedTransactions: 65_536,
  wantedShare: 1_024,
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
  /** Log lines about connections of peers without a reserved slot. */
  strangerLines: { perSecond: 2, burst: 100 },
  /** Bytes of blocks sent to one peer for its status messages. */
  blockAnswers: { perSecond: 16 * 1024 * 1024, burst: 32 * 1024 * 1024 },
  /** Delay for collecting changes of reachability. */
  linksMs: 50,
  /**
   * Peer records: buckets of new and of tried ones, records in each, buckets that one source network and one network of tried nodes reach,
   * records of one host and of one validator; in one response; interval of requests to peers; addresses that are redialed first after a
   * restart; the first port that a record may name besides those this node is configured with.
   */
  newBuckets: 64,
  triedBuckets: 16,
  bucketRecords: 16,
  bucketsPerSource: 8,
  bucketsPerNetwork: 2,
  recordsPerHost: 4,
  recordsPerValidator: 2,
  anchors: 4,
  firstPort: 1_024,
  recordsPerAnswer: 64,
  recordBytes: 512,
  askRecordsMs: 60_000,
  /** New records verified for strangers (two signatures each), for those that dialed this node and for those that it dialed. */
  recordChecks: { perSecond: 10, burst: 256 },
  clientBytes: 128,
  /**
   * Dialing: addresses of static peers and members at once, and as many of others; pause after the first failure, the longest pause, that of static peers and members, that after a refusal that will not
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
  /** Connections lost to another process with this node's key until it is told, within what time, and the time until it is told again. */
  displaced: 2,
  displacedMs: 60_000,
  displacedNoticeMs: 10 * 60_000,
  /** Peer scores: from 0 to -100, halved towards 0 in each half-life. */
  halfLifeMs: 10 * 60_000,
  disconnectScore: -20,
  banScore: -50,
  banMs: 30 * 60_000,
  reservedBanMs: 60_000,
  /** Banned nodes of one address until the address is banned too. */
  bansPerAddress: 3,
  peerScores: 4_096,
  storeBytes: 4 * 1024 * 1024,
  storeMs: 60_000,
} as const
