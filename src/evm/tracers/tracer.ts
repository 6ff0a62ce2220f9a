import type { Journal } from '../../state/journal/journal.ts'
import type { Hex } from '../../util/bytes.ts'

/** What opens a frame, by the opcode's name; a transaction opens with CALL or CREATE. */
export type FrameType = 'CALL' | 'CALLCODE' | 'DELEGATECALL' | 'STATICCALL' | 'CREATE' | 'CREATE2' | 'SELFDESTRUCT'

/** A message that begins, also one to a precompile or to nobody, and one that is refused at once. */
export interface FrameStart {
  /** 0 for the transaction's own message. */
  readonly depth: number
  readonly type: FrameType
  /** Whose code opens it: for DELEGATECALL the running contract, not its caller. */
  readonly from: Hex
  /** Whose code runs; the address of a creation; the beneficiary of SELFDESTRUCT. */
  readonly to: Hex
  /** Call data or init code: a view of memory that changes later. */
  readonly input: Uint8Array
  readonly gas: bigint
  /** undefined: the kind of call has none (STATICCALL). */
  readonly value: bigint | undefined
}

export interface FrameEnd {
  readonly depth: number
  /** What it returned, the revert's data, or the code of a creation. */
  readonly output: Uint8Array
  readonly gasUsed: bigint
  /** Why it failed, in the words of go-ethereum; undefined when it did not. */
  readonly error: string | undefined
}

/** One opcode before it runs; valid only during the call. */
export interface Step {
  readonly pc: number
  readonly op: number
  readonly name: string
  /** Gas before the opcode, and what it costs (for calls with the gas they pass on). */
  readonly gas: bigint
  readonly cost: bigint
  /** 1 for the transaction's own message. */
  readonly depth: number
  readonly refund: bigint
  /** Why the opcode cannot run; what fails while it runs shows only at the end of its frame. */
  readonly error: string | undefined
  /** Whose storage the code works on. */
  readonly address: Hex
  /** Bottom first; only the first `stackSize` items count. */
  readonly stack: readonly bigint[]
  readonly stackSize: number
  /** Only the first `memorySize` bytes count; it may end before, then zeros follow. */
  readonly memory: Uint8Array
  readonly memorySize: number
  /** Of the last call in this frame. */
  readonly returnData: Uint8Array
}

export interface TracedLog {
  readonly address: Hex
  readonly topics: readonly Hex[]
  readonly data: Uint8Array
}

/** What is traced: a transaction of a block, or a call made as if it were one. */
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
  readonly blockNumber: number
  /** null for calls. */
  readonly blockHash: Hex | null
  readonly hash: Hex | null
  readonly index: number
  /** Logs of the block's transactions before it. */
  readonly logsBefore: number
}

export interface TransactionEnd {
  /** As the receipt has it: after refunds. */
  readonly gasUsed: bigint
}

/**
 * Watches one transaction and then tells what it saw. Calls come in order: `begin`; `enter`, `step`, `log` and `exit` as the
 * execution goes; `end`. The state is the journal the transaction runs on: at `begin` as it was before, and accounts named by an
 * opcode are loaded when its step is shown.
 */
export interface Tracer {
  begin?(transaction: TracedTransaction, state: Journal): void
  enter?(frame: FrameStart): void
  step?(step: Step): void
  log?(log: TracedLog): void
  exit?(frame: FrameEnd): void
  end?(end: TransactionEnd): void
  /** The JSON of the result, or what of it was not written before, in pieces of any size. Asked for once, at the end. */
  result(): Iterable<string>
}

/** Holds the execution back while nobody takes what the tracer wrote. */
export interface Backpressure {
  readonly isFull: boolean
  drained(): Promise<void>
}

/** What an engine needs to run a message under a tracer. */
export interface TraceHooks {
  readonly tracer: Tracer
  readonly backpressure: Backpressure
}
