import type { Log } from '../primitives/log.ts'
import type { AccessListEntry } from '../primitives/transaction.ts'
import type { Journal } from '../state/journal/journal.ts'
import type { Hex } from '../util/bytes.ts'
import type { BlockEnv } from './block-env.ts'
import type { MovedPrecompiles } from './calls/moved-precompiles.ts'
import type { Prefetcher } from './readers/prefetched-reader.ts'
import type { TraceHooks } from './tracers/tracer.ts'

/** One message at depth 0. The sender's nonce is already raised and its gas bought. */
export interface EngineMessage {
  /** Sender and origin. */
  readonly from: Hex
  /** null: contract creation with `data` as init code. */
  readonly to: Hex | null
  readonly value: bigint
  readonly data: Uint8Array
  /** Gas of the message: the limit less the intrinsic gas. */
  readonly gas: bigint
  /** GASPRICE, wei. */
  readonly gasPrice: bigint
  readonly accessList: readonly AccessListEntry[]
  /** Warm besides sender, recipient, precompiles, coinbase (EIP-3651) and access list: the authorities of EIP-7702. */
  readonly warm?: readonly Hex[]
  readonly blobVersionedHashes?: readonly Hex[]
}

/** Why a message failed. `revert` gives back unused gas and carries `output`; `halt` consumed all gas. */
export type EngineFailure = { readonly kind: 'revert' } | { readonly kind: 'halt'; readonly reason: string }

export interface EngineResult {
  readonly gasUsed: bigint
  /** Refund counter before the cap of EIP-3529; zero when the message failed. */
  readonly refund: bigint
  readonly output: Uint8Array
  readonly logs: readonly Log[]
  /** Address of the created account, also when the creation failed; null for calls. */
  readonly created: Hex | null
  /** Accounts to delete at the end of the transaction (EIP-6780 applied where active). */
  readonly destroyed: readonly Hex[]
  readonly failure: EngineFailure | null
  /** With `transfers`: the logs with those of transfers among them, in order. */
  readonly tracedLogs?: readonly Log[]
}

/** Stops a message from outside: the engine asks now and then, and yields to the event loop between slices. */
export interface Interrupt {
  /** Wall-clock work between two yields, milliseconds. */
  readonly sliceMs: number
  /** Gives other work its turn; by default one round of the event loop. */
  giveWay?(): Promise<void>
  /** true: give up; the engine throws CodedError<InterruptedError> and leaves the journal to be reverted by the caller. */
  shouldStop(): boolean
}

export interface InterruptedError {
  readonly code: 'EXECUTION_INTERRUPTED'
}

/** Thrown as CodedError by an engine: the message used more gas than `EngineOptions.gasBound`. */
export interface GasBoundError {
  readonly code: 'GAS_BOUND_EXCEEDED'
}

/** Receives what an execution touched (EIP-2929 warm set without the sender, recipient and precompiles). */
export interface AccessRecorder {
  address(address: Hex): void
  slot(address: Hex, slot: Hex): void
}

export interface EngineOptions {
  readonly interrupt?: Interrupt
  /**
   * Gas after which nobody wants the result: a message that uses more throws CodedError<GasBoundError>, soon after it does. Code does not
   * see it, and a message that uses no more runs as without it.
   */
  readonly gasBound?: bigint
  readonly accesses?: AccessRecorder
  /** Where the journal's base cannot be read at once: asked before each read of an account, a slot or code. */
  readonly prefetch?: Prefetcher
  /** Precompiles that state overrides moved or replaced. */
  readonly moves?: MovedPrecompiles
  /** true: transfers of wei are answered as logs too (ERC-7528). */
  readonly transfers?: boolean
  /** Only for an engine that traces. */
  readonly trace?: TraceHooks
  /** Asked before the environment's `blockHash`, for blocks whose hash has to be found first; undefined: ask that one. */
  blockHash?(number: number): Promise<Hex> | undefined
}

/**
 * Runs one message against a journal: value transfer, code, creation, inner calls. A failed message leaves no change.
 * The journal afterwards holds the effects; deleting `destroyed`, refunds and fees are the executor's.
 */
export interface Engine {
  readonly name: string
  run(
    journal: Journal,
    env: BlockEnv,
    message: EngineMessage,
    options?: EngineOptions,
  ): EngineResult | Promise<EngineResult>
}
