/* Commands other than the node: development chains and localnet. Units are in the names. */

/** Files named by options: genesis, settings and labels; keys of clients and sources of prices. */
export const FILE_LIMITS = { configBytes: 64 * 1024 * 1024, listBytes: 1024 * 1024 } as const

/** Development chains: funded accounts, seconds between blocks unless there is one at once for each transaction, and requests of a provider under way. */
export const DEVNET_LIMITS = { accounts: 1_000, blockSeconds: { least: 0.05, most: 3_600 }, requests: 128 } as const
/** The command's defaults: seconds, accounts, wei. */
export const DEVNET_DEFAULTS = { blockTime: 1, accounts: 10, balance: 10_000n * 10n ** 18n } as const

/** `tandem localnet`: a network of processes on one machine. */
export const LOCALNET_LIMITS = {
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
} as const
