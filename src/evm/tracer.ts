import type { Hex } from '@tandem/base/bytes.ts'
import type { Uint64 } from '@tandem/base/uint64.ts'
import type { Journal } from '../state/journal/journal.ts'

/** Kind of frame, by the opcode's name; a transaction opens with CALL or CREATE. */
export type FrameType = 'CALL' | 'CALLCODE' | 'DELEGATECALL' | 'STATICCALL' | 'CREATE' | 'CREATE2' | 'SELFDESTRUCT'

/** Start of a message, also to a precompile or an account without code, and of one that is refused. */
export interface FrameStart {
  /** 0 for the transaction's own message. */
  readonly depth: number
  readonly type: FrameType
  /** Account whose code opens it: for DELEGATECALL the running contract, not its caller. */
  readonly from: Hex
  /** Account whose code runs; the address of a creation; the beneficiary of SELFDESTRUCT. */
  readonly to: Hex
  /** Call data or init code: a view of memory that changes later. */
  readonly input: Uint8Array
  readonly gas: bigint
  /** undefined: the kind of call has none (STATICCALL). */
  readonly value: bigint | undefined
}

export interface FrameEnd {
  readonly depth: number
  /** Return data, revert data, or the code of a creation: a view of memory that changes later. */
  readonly output: Uint8Array
  readonly gasUsed: bigint
  /** Error text of go-ethereum; undefined on success. */
  readonly error: string | undefined
}

/** One opcode before it runs; valid only during the call. */
export interface Step {
  readonly pc: number
  readonly op: number
  readonly name: string
  /** Gas before the opcode, and its cost (for calls including the gas they pass on). */
  readonly gas: bigint
  readonly cost: bigint
  /** 1 for the transaction's own message. */
  readonly depth: number
  readonly refund: bigint
  /** Reason why the opcode cannot run; a failure while it runs is reported only at the end of its frame. */
  readonly error: string | undefined
  /** Account whose storage the code uses. */
  readonly address: Hex
  /** Bottom first; only the first `stackSize` items are valid. */
  readonly stack: readonly bigint[]
  readonly stackSize: number
  /** Only the first `memorySize` bytes are valid; a shorter array is followed by zeros. */
  readonly memory: Uint8Array
  readonly memorySize: number
  /** Return data of the last call in this frame. */
  readonly returnData: Uint8Array
  /** Word of the running contract, where the engine does not write it to the journal at once; undefined: as in the journal. */
  storage?(slot: Hex): Hex | undefined
}

export interface TracedLog {
  readonly address: Hex
  readonly topics: readonly Hex[]
  /** A view of the frame's memory, which changes later. */
  readonly data: Uint8Array
}

/** Traced transaction of a block, or a call treated like one. */
export interface TracedTransaction {
  readonly from: Hex
  /** Recipient; for creations the address of the contract. */
  readonly to: Hex
  readonly isCreation: boolean
  readonly gasLimit: bigint
  readonly coinbase: Hex
  /** Signers of EIP-7702 authorizations. */
  readonly authorities: readonly Hex[]
  readonly precompiles: ReadonlySet<Hex>
  readonly blockNumber: Uint64
  /** null for calls. */
  readonly blockHash: Hex | null
  readonly hash: Hex | null
  readonly index: number
  /** Logs of the block's transactions before it. */
  readonly logsBefore: number
}

export interface TransactionEnd {
  /** Gas used as in the receipt: after refunds. */
  readonly gasUsed: bigint
}

/**
 * Observes one transaction and returns a result. Calls come in order: `begin`; `enter`, `step`, `log` and `exit` during the
 * execution; `end`. The state is the transaction's journal: at `begin` without its changes; accounts named by an opcode are
 * loaded when its step is reported.
 */
export interface Tracer {
  begin?(transaction: TracedTransaction, state: Journal): void
  enter?(frame: FrameStart): void
  /** Opcodes that it has to see: all, or those that name slots or accounts or create some; none if missing. */
  readonly watches?: 'all' | 'named' | 'none'
  /** Before an opcode runs, without its cost and error. Not every engine calls it. */
  before?(step: Step): void
  /** Once the cost is known; after `before`, stack, memory and return data may have changed. */
  step?(step: Step): void
  log?(log: TracedLog): void
  exit?(frame: FrameEnd): void
  end?(end: TransactionEnd): void
  /** Returns the JSON of the result, or the part not yet written, in pieces of any size. Called once, at the end. */
  result(): Iterable<string>
}

/** Pauses the execution while the reader does not take the tracer's output. */
export interface Backpressure {
  readonly isFull: boolean
  drained(): Promise<void>
}

/** Hooks for an engine to run a message under a tracer. */
export interface TraceHooks {
  readonly tracer: Tracer
  readonly backpressure: Backpressure
}
