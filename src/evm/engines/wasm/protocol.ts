import { REASON } from '../../failure-reasons.ts'

/* Numbers shared by the module and its host, which the build names for the module (scripts/wasm-names.ts). */

/** Results of `run`, `startCall` and `startCreation`; after all but the last one the operation is repeated. */
export const STATUS = {
  done: 0,
  needsAccount: 1,
  needsSlot: 2,
  needsCode: 3,
  needsBlockHash: 4,
  needsPrecompile: 5,
  paused: 6,
  /** A region or the memory was full: the message had more gas than the regions are made for, or the system has no memory. */
  exhausted: 7,
  /** The tracer has to wait before the opcode runs. */
  waits: 8,
  goesOn: 16,
} as const

/** Outcomes of a message and of a frame; a refused one keeps its gas. */
export const OUTCOME = { returned: 17, reverted: 18, failed: 19, refused: 20 } as const

/** Reasons of failures in the order of their numbers, which begin with 1, where traces say more than errors with the text of traces. */
const FAILURES: readonly (readonly [name: string, reason: string, trace?: string])[] = [
  ['outOfGas', REASON.outOfGas],
  ['stackUnderflow', REASON.stackUnderflow],
  ['stackOverflow', REASON.stackOverflow],
  ['invalidJump', REASON.invalidJump],
  ['invalidOpcode', REASON.invalidOpcode],
  ['staticStateChange', REASON.staticStateChange],
  ['createCollision', REASON.createCollision],
  ['codeTooLarge', REASON.codeTooLarge],
  ['codeInvalid', REASON.codeInvalid],
  ['initCodeTooLarge', REASON.initCodeTooLarge],
  ['returnDataOutOfBounds', REASON.outOfGas, 'return data out of bounds'],
  ['codeNotPaid', REASON.outOfGas, 'contract creation code storage out of gas'],
  ['valueOverflow', 'value overflow'],
  ['callTooDeep', 'max call depth exceeded'],
  ['balanceTooLow', 'insufficient balance for transfer'],
  ['nonceTooHigh', 'nonce uint64 overflow'],
]
export const REASONS: readonly string[] = ['', ...FAILURES.map(([, reason]) => reason)]
/** Texts of traces, by the same numbers. */
export const TRACE_REASONS: readonly string[] = ['', ...FAILURES.map(([, reason, trace = reason]) => trace)]
export const FAILURE: Readonly<Record<string, number>> = Object.fromEntries(FAILURES.map(([name], i) => [name, i + 1]))

/** Offsets in an account's entry. The undo log copies the first 96 bytes. */
export const ACCOUNT = {
  balance: 0,
  nonce: 32,
  code: 40,
  codeSize: 44,
  jumps: 48,
  flags: 52,
  warm: 56,
  /** Number of the account, which keys its slots. */
  storage: 60,
  /** Version of the page that has its code. */
  codeVersion: 64,
  /** Newest undo record, of accounts and slots. */
  newest: 92,
  address: 96,
  loaded: 128,
  place: 132,
  /** 0, or the number of the precompile at the address. */
  precompile: 136,
  /** The storage trie was not empty at the start of the block (EIP-7610). */
  hasStorage: 140,
  /** Number of the last message that used it. */
  accountEpoch: 144,
  addressBytes: 148,
  codeHash: 176,
} as const

export const FLAG = {
  exists: 1,
  hasCode: 2,
  /** Its code is loaded in this memory. */
  codeLoaded: 4,
  touched: 8,
  /** Created by this transaction. */
  created: 16,
  destroyed: 32,
  /** The entry holds the hash of the code. */
  hashKnown: 64,
  /** Balance, nonce or code may differ from the loaded values. */
  changed: 128,
} as const

/** Offsets in a slot's entry. */
export const SLOT = {
  value: 0,
  slotWarm: 32,
  key: 36,
  owner: 68,
  storageId: 72,
  slotLoaded: 76,
  slotEpoch: 84,
  /** Never changes, but is copied: the undo log has records of one size. */
  original: 96,
} as const

/** Offsets in the record of a frame: first the registers while it does not run, then what is constant. */
export const FRAME = {
  pc: 0,
  sp: 4,
  gas: 8,
  memorySize: 16,
  parent: 20,
  base: 24,
  memory: 28,
  frameCode: 32,
  frameCodeSize: 36,
  frameJumps: 40,
  /** Account entry whose storage and address the code uses. */
  self: 44,
  input: 48,
  inputSize: 52,
  /** Range of the caller's memory that takes the output. */
  output: 56,
  outputSize: 60,
  isStatic: 64,
  isCreation: 68,
  depth: 72,
  /** Marks of undo log and logs, and the refund counter at the start of the frame. */
  undoMark: 76,
  logsMark: 80,
  refundMark: 88,
  /** Size of the return data of its last call: the whole of the return region, or nothing. */
  returnSize: 96,
  /** Gas by which the frame's could be less (assembly/spare.ts). */
  spare: 104,
  caller: 112,
  callValue: 144,
  /** Gas that the caller passed, without the stipend. */
  passed: 176,
  recordBytes: 192,
} as const

/** Log: its head, then topics, then data; the next one begins at a multiple of `align`. */
export const LOG = { head: 16, topics: 4, size: 8, align: 64 } as const

/** Internal transfer among the logs: its kind in place of a count of topics, and recipient. To oneself only with logged transfers. */
export const INTERNAL = { callTransfer: 256, createTransfer: 257, destructTransfer: 258, selfTransfer: 259 } as const
export const INTERNAL_TO = 12

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

/** Sizes of entries and pages, bytes, and the most blobs. */
export const SIZE = { accountBytes: 224, slotBytes: 128, codePage: 28 * 1024, maxBlobs: 1024 } as const
