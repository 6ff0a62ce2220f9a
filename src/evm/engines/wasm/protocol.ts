import { REASON } from '../failure-reasons.ts'

/* Numbers shared by the module and its host: assembly/status.ts, accounts.ts and logs.ts repeat them by hand. */

/** Results of `run`, `startCall` and `startCreation`. */
export const STATUS = {
  done: 0,
  needsAccount: 1,
  needsSlot: 2,
  needsCode: 3,
  needsBlockHash: 4,
  needsPrecompile: 5,
  paused: 6,
  exhausted: 7,
  unusual: 8,
  goesOn: 16,
} as const

/** Outcomes of a message. */
export const OUTCOME = { returned: 17, reverted: 18, failed: 19 } as const

/** By the numbers of assembly/status.ts. */
export const REASONS: readonly string[] = [
  '',
  REASON.outOfGas,
  REASON.stackUnderflow,
  REASON.stackOverflow,
  REASON.invalidJump,
  REASON.invalidOpcode,
  REASON.staticStateChange,
  REASON.createCollision,
  REASON.codeTooLarge,
  REASON.codeInvalid,
  REASON.initCodeTooLarge,
]

/** Offsets in an account's entry. */
export const ACCOUNT = {
  balance: 0,
  nonce: 32,
  code: 40,
  codeSize: 44,
  flags: 52,
  warm: 56,
  loaded: 128,
  precompile: 136,
  hasStorage: 140,
  address: 148,
  codeHash: 176,
} as const

export const FLAG = {
  exists: 1,
  hasCode: 2,
  touched: 8,
  created: 16,
  destroyed: 32,
  hashKnown: 64,
  changed: 128,
} as const

/** Offsets in a slot's entry. */
export const SLOT = { owner: 68, loaded: 76 } as const

/** Log: its head, then topics, then data; the next one begins at a multiple of `align`. */
export const LOG = { head: 16, topics: 4, size: 8, align: 64 } as const

/** Internal transfer among the logs: the number of its kind instead of a count of topics, and its recipient. */
export const INTERNAL = { kinds: 256, to: 12 } as const

/** Indexes of the environment's words. */
export const WORD = {
  origin: 0,
  gasPrice: 1,
  coinbase: 2,
  timestamp: 3,
  number: 4,
  prevRandao: 5,
  gasLimit: 6,
  chainId: 7,
  baseFee: 8,
  blobBaseFee: 9,
} as const

export const MAX_BLOBS = 64
