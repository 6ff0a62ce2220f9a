import { type CodedError, isCoded } from '@tandem/base/errors.ts'
import type { InterruptedError } from '../../evm/engine.ts'
import type { ExecutionFaultError, GasUsedError, InvalidTransactionError } from '../../evm/executor-types.ts'
import type { ProofHeaderMalformed } from '../../primitives/proof-header.ts'
import type { BodyError } from '../../rules/body.ts'
import type { HeaderError } from '../../rules/header.ts'
import type { ProofHeaderError } from '../../rules/proof/proof-header.ts'
import type { ProofInclusionError } from '../../rules/proof/proof-inclusion.ts'
import type { StateError } from '../../state/errors.ts'
import type { EvidenceError } from '../council/evidence-pool.ts'

/** Fault found by validation itself: a header that differs from its execution. */
export type ResultError = { readonly code: 'HEADER_RESULT'; readonly field: string }

type BlockError =
  | HeaderError
  | BodyError
  | ProofHeaderError
  | ProofHeaderMalformed
  | ProofInclusionError
  | EvidenceError
  | InvalidTransactionError
  | GasUsedError
  | ExecutionFaultError
  | ResultError

/** Reason not to vote for a block. */
export interface BlockFault {
  /** true: every honest node finds the fault, now and later. false: it depends on this node (its clock, engine or data). */
  readonly proven: boolean
  readonly error: CodedError<BlockError>
}

/** Proven or not, by code (docs/design/blocks.md#validity). A code without an entry does not compile. */
const PROVEN: Readonly<Record<BlockError['code'], boolean>> = {
  HEADER_NUMBER: true,
  HEADER_PARENT_HASH: true,
  HEADER_TIMESTAMP_TOO_EARLY: true,
  HEADER_TIMESTAMP_IN_FUTURE: false,
  HEADER_GAS_LIMIT: true,
  HEADER_GAS_USED: true,
  HEADER_DIFFICULTY: true,
  HEADER_NONCE: true,
  HEADER_MIX_HASH: true,
  HEADER_UNCLES: true,
  HEADER_BASE_FEE: true,
  HEADER_EXTRA_DATA: true,
  HEADER_FOREIGN_MEMBER: true,
  HEADER_RESULT: true,
  BODY_TOO_LARGE: true,
  BODY_TRANSACTION_TOO_LARGE: true,
  BODY_TRANSACTIONS_ROOT: true,
  BODY_PROOF_HEADERS: true,
  BODY_EVIDENCE: true,
  BODY_EVIDENCE_TOO_MUCH: true,
  BODY_EVIDENCE_INVALID: true,
  BODY_EVIDENCE_UNKNOWN: false,
  BODY_GAS_USED: true,
  PROOF_HEADER_MALFORMED: true,
  PROOF_COUNT: true,
  PROOF_TIP: true,
  PROOF_VERSION: true,
  PROOF_PARENT: true,
  PROOF_HEIGHT: true,
  PROOF_COINBASE: true,
  PROOF_ANCHOR_ORDER: true,
  PROOF_ANCHOR_STALE: true,
  PROOF_ANCHOR_FUTURE: true,
  PROOF_ANCHOR_HASH: true,
  PROOF_TARGET: true,
  PROOF_MIX_HASH: true,
  PROOF_WORK: true,
  INVALID_TRANSACTION: true,
  EXECUTION_FAULT: false,
}

const isBlockError = (error: unknown): error is CodedError<BlockError> =>
  isCoded(error) && Object.hasOwn(PROVEN, error.code)

/** Returns the fault that an error names; undefined when the error says nothing about the block. */
export const blockFaultFromError = (error: unknown): BlockFault | undefined =>
  isBlockError(error) ? { proven: PROVEN[error.code], error } : undefined

const ENDED: ReadonlySet<string> = new Set<InterruptedError['code'] | StateError['code']>([
  'EXECUTION_INTERRUPTED',
  'STATE_MOVED',
])

/** Returns true for the error of work that was cancelled, or whose head moved. */
export const isEndOfWork = (error: unknown): boolean => isCoded(error) && ENDED.has(error.code)
