/* Stratum server of the proof chain (docs/design/proof-chain.md#stratum). Units are in the names. */

/** Limits of a Stratum server. */
export const STRATUM_LIMITS = {
  connections: 1_024,
  /** Per remote address; the address of the loopback counts as one. */
  connectionsPerAddress: 512,
  /** New connections per address. */
  connects: { perSecond: 8, burst: 64 },
  /** Addresses whose new connections and faults are remembered. */
  addresses: 4_096,
  workersPerConnection: 16,
  /** Workers whose shares are counted; the one idle for longest is forgotten. */
  workers: 4_096,
  /** Longest line of a miner. */
  lineBytes: 4_096,
  /** Lines per connection; a faster sender is read more slowly. */
  lines: { perSecond: 200, burst: 400 },
  /** Unsent bytes at which a miner that does not read is disconnected. */
  backlogBytes: 64 * 1024,
  /** Time for subscription and authorization. */
  loginMs: 30_000,
  /** Longest silence of a miner. */
  idleMs: 15 * 60_000,
  /** Jobs of a connection on one tip whose shares still count. */
  jobs: 16,
  /** Shares of one job that are remembered, so that none counts twice. */
  sharesPerJob: 4_096,
  /** Shares per connection that are hashed, by version: the second costs an Argon2id hash of 4 MiB. */
  shares: { 1: { perSecond: 20, burst: 100 }, 2: { perSecond: 4, burst: 16 } },
  /** Argon2id hashes of all shares. */
  argon2: { perSecond: 200, burst: 400 },
  /** Argon2id hashes computed at once. */
  argon2AtOnce: 2,
  /** Shares that wait for an Argon2id hash. */
  argon2Waiting: 64,
  /** Faults of an address before it is banned; on the loopback of a connection before it ends. */
  faults: { perSecond: 0.5, burst: 60 },
  banMs: 10 * 60_000,
  /** Window of the hash rate of a worker. */
  rateMs: 10 * 60_000,
  /** Interval of log lines about all workers. */
  reportMs: 60_000,
} as const

/** Share targets: expected hashes of one share. */
export const VARDIFF_LIMITS = {
  /** Wanted time between two shares of a connection. */
  shareMs: 10_000,
  /** By version of the hash function: the first share target of a connection. */
  firstHashes: { 1: 2 ** 18, 2: 2 ** 10 },
  leastHashes: 1,
  mostHashes: 2 ** 60,
} as const
