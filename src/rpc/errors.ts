import { bytesToHex, type Hex, toQuantity } from '@tandem/base/bytes.ts'
import { CodedError, isCoded } from '@tandem/base/errors.ts'
import type { Nonce, Uint64 } from '@tandem/base/uint64.ts'
import type { MinerError } from '../chain/dev/dev-miner.ts'
import type { DevSnapshotError } from '../chain/dev/dev-snapshots.ts'
import type { TimestampError } from '../chain/dev/dev-time.ts'
import type { ImpersonationError } from '../chain/dev/impersonation.ts'
import type { StateFileError } from '../chain/dev/parse-state.ts'
import type { RewindError } from '../chain/dev/rewind.ts'
import type { ChainReadError } from '../chain/store/types.ts'
import { RPC_LIMITS } from '../config/limits/clients.ts'
import type { TypedDataError } from '../crypto/keys/typed-data.ts'
import type { SenderError } from '../crypto/recovery/recover-sender.ts'
import type { SenderRecoveryError } from '../crypto/recovery/sender-recovery.ts'
import type { CallError } from '../evm/engine.ts'
import type { InvalidTransactionError } from '../evm/executor-types.ts'
import { REASON } from '../evm/failure-reasons.ts'
import { revertReason } from '../evm/revert-reason.ts'
import type { TraceError } from '../evm/tracers/config.ts'
import type { NetworkError } from '../network/core/errors.ts'
import type { DecodeError } from '../primitives/transaction/transaction.ts'
import type { TransactionError } from '../rules/transaction.ts'
import type { StateError } from '../state/errors.ts'
import type { TrieError } from '../state/trie/types.ts'
import type { PoolError } from '../txpool/pool/errors.ts'
import type { WalletError } from './ports.ts'
import { invalidCall, SIMULATION_CODES } from './simulation-errors.ts'

/** JSON-RPC error codes of this node (docs/interface.md#errors). */
export const CODES = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  server: -32000,
  responseTooLarge: -32003,
  /** The request exceeds a limit of this node, or its current capacity (EIP-1474); a later or smaller request may succeed. */
  limitExceeded: -32005,
  reverted: 3,
  /** A submitted transaction was in no block in time, or cannot be in one yet (EIP-7966). */
  notIncluded: 4,
  notReady: 5,
  /** Failure of one call in a result, and of a whole simulation (execution APIs, eth_simulateV1). */
  execution: -32015,
  timeout: -32016,
  /** The operator switched the method off. */
  disabled: -32075,
} as const

/** Failure as the client sees it: code, message and data of the error object. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

/** Decoding failure of one argument; the router adds its position. */
export class InvalidArgument extends Error {
  override readonly name = 'InvalidArgument'
}

export const methodNotFound = (name: string): RpcError =>
  new RpcError(CODES.methodNotFound, `the method ${shortened(name)} does not exist/is not available`)
export const invalidArgument = (position: number, reason: string): RpcError =>
  new RpcError(CODES.invalidParams, `invalid argument ${position}: ${reason}`)
export const missingArgument = (position: number): RpcError =>
  new RpcError(CODES.invalidParams, `missing value for required argument ${position}`)
export const invalidParams = (message: string): RpcError => new RpcError(CODES.invalidParams, message)
export const serverError = (message: string): RpcError => new RpcError(CODES.server, message)
/** Longest name of a client's that an error repeats. */
const NAME_CHARS = 256
const shortened = (text: string, chars: number = NAME_CHARS): string =>
  text.length <= chars ? text : `${text.slice(0, chars)}...`
/** A subscription that this endpoint does not serve. */
export const noSubscription = (namespace: string, kind: string): RpcError =>
  new RpcError(CODES.methodNotFound, `no "${shortened(kind)}" subscription in ${namespace} namespace`)
/** Error of a fixed text that clients match: its figures are in `data`, as QUANTITY. A figure that an error lacks is left out. */
const withFigures = (message: string, figures: Readonly<Record<string, bigint | number | undefined>>): RpcError => {
  const known = Object.entries(figures).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, toQuantity(value)] as const],
  )
  return known.length === 0 ? serverError(message) : new RpcError(CODES.server, message, Object.fromEntries(known))
}
/** Signing for an account whose key the node does not hold; on a development chain without keys, `data.hint` says how it gets them. */
export const unknownAccount = (isUnlockable: boolean): RpcError =>
  new RpcError(CODES.server, 'unknown account', isUnlockable ? { hint: UNLOCK_HINT } : undefined)
const UNLOCK_HINT =
  'this node signs for no account: sign in the client, or start the devnet with --unlock; hardhat_impersonateAccount lets any account send'
/** Outcomes of eth_sendRawTransactionSync without a receipt; `data` is the hash, by which the transaction can be found later. */
export const notIncluded = (hash: Hex, timeoutMs: number): RpcError =>
  new RpcError(
    CODES.notIncluded,
    `the transaction is in the pool but was in no block within ${timeoutMs / 1_000} s`,
    hash,
  )
export const replaced = (hash: Hex): RpcError =>
  new RpcError(CODES.notIncluded, 'the transaction left the pool without a block: it was replaced or dropped', hash)
export const notReady = (hash: Hex, nonce: Nonce): RpcError =>
  new RpcError(CODES.notReady, `the transaction waits in the pool for one with nonce ${nonce}`, hash)
export const limitExceeded = (message: string): RpcError => new RpcError(CODES.limitExceeded, message)
export const METHOD_DISABLED = new RpcError(CODES.disabled, 'Method disabled')
/** A response, or the rest of a batch, exceeds `RPC_LIMITS.answerBytes`. */
export const RESPONSE_TOO_LARGE = new RpcError(
  CODES.responseTooLarge,
  `response too large, at most ${RPC_LIMITS.answerBytes} bytes: ask for less at once`,
)
export const headerNotFound = (number: Uint64): RpcError =>
  serverError(`the header does not exist (block number: ${number})`)

/** Error of a revert; the message includes the decoded reason when the data holds one. Megabytes of data are left out: gas pays for many. */
export const revertError = (data: Uint8Array): RpcError => {
  const { revertBytes, reasonChars } = RPC_LIMITS
  if (data.byteLength > revertBytes)
    return new RpcError(
      CODES.reverted,
      `${REASON.revert}: with ${data.byteLength} bytes, at most ${revertBytes} are told`,
    )
  const reason = revertReason(data)
  const message = reason === undefined ? REASON.revert : `${REASON.revert}: ${shortened(reason, reasonChars)}`
  return new RpcError(CODES.reverted, message, bytesToHex(data))
}

/** Every failure that a client's request may cause, by the part that declares it. */
type DomainError =
  | CallError
  | TraceError
  | ChainReadError
  | ProofError
  | PoolError
  | DecodeError
  | SenderError
  | SenderRecoveryError
  | WalletError
  | TypedDataError
  | PeerError
  | DevError
  | InvalidTransactionError
/** Failures of the operator's requests to the network. */
type PeerError = Extract<NetworkError, { readonly code: 'TOO_MANY_STATIC_PEERS' }>
/** Failures of the helpers of development chains. */
type DevError = RewindError | MinerError | DevSnapshotError | TimestampError | ImpersonationError | StateFileError
type ProofError =
  | Extract<StateError, { readonly code: 'PROOF_TOO_DEEP' }>
  | Extract<TrieError, { readonly code: 'TRIE_BUSY' | 'TRIE_UNKNOWN_ROOT' }>
type Detail<Code extends string> = Extract<DomainError, { readonly code: Code }>

/**
 * The only table from domain code to JSON-RPC code and text. Clients match these texts: docs/interface.md#errors,
 * docs/design/pool.md#checks, docs/design/rpc.md#errors, docs/design/rpc.md#transport.
 */
export const DOMAIN_ERRORS: { readonly [Code in DomainError['code']]: (detail: Detail<Code>) => RpcError } = {
  // calls (evm/calls/types.ts)
  EXECUTION_REVERTED: ({ data }) => revertError(data),
  EXECUTION_FAILED: ({ reason }) => serverError(reason),
  EXECUTION_TIMEOUT: ({ timeoutMs }) => serverError(`execution aborted (timeout = ${timeoutMs / 1_000}s)`),
  INSUFFICIENT_BALANCE_FOR_TRANSFER: ({ have, want }) =>
    withFigures('err: insufficient balance for transfer', { balance: have, required: want }),
  INTRINSIC_GAS_TOO_LOW: ({ have, want }) => serverError(`intrinsic gas too low: msg.gas ${have}, want ${want}`),
  GAS_REQUIRED_EXCEEDS_ALLOWANCE: ({ allowance }) => serverError(`gas required exceeds allowance (${allowance})`),
  CHAIN_ID_MISMATCH: ({ have, want }) => serverError(`chainId does not match node's (have=${have}, want=${want})`),
  OVERRIDE_CONFLICT: ({ address }) => serverError(`account ${address} has both 'state' and 'stateDiff'`),
  NOT_A_PRECOMPILE: ({ address }) => serverError(`account ${address} is not a precompile`),
  PRECOMPILE_MOVED_TO_ITSELF: ({ address }) =>
    new RpcError(SIMULATION_CODES.movedToItself, `the precompile ${address} is moved to its own address`),
  ALREADY_OVERRIDDEN: ({ address }) => serverError(`account ${address} is already overridden`),
  CALL_QUEUE_FULL: () => limitExceeded('too many calls are waiting, try again later'),
  CLIENT_QUEUE_FULL: ({ limit }) =>
    limitExceeded(`too many of your calls (limit ${limit}) are waiting, try again later`),
  // simulated blocks (evm/simulate)
  SIMULATION_NUMBER_ORDER: ({ number, previous }) =>
    new RpcError(SIMULATION_CODES.numberOrder, `block numbers must be in order: ${number} <= ${previous}`),
  SIMULATION_TIME_ORDER: ({ timestamp, previous }) =>
    new RpcError(SIMULATION_CODES.timeOrder, `block timestamps must be in order: ${timestamp} <= ${previous}`),
  SIMULATION_LIMIT: ({ what }) => new RpcError(SIMULATION_CODES.limit, `a simulation has at most ${what}`),
  SIMULATION_CALL_INVALID: ({ number, index, reason }) => {
    const [code, message] = invalidCall(reason) ?? [CODES.invalidParams, reasonText(reason)]
    return new RpcError(code, `err: ${message} (call ${index} of block ${number})`)
  },
  // reads (chain/store/types.ts)
  MISSING_STATE: ({ root }) => serverError(`missing trie node ${root.slice(2)} (path )`),
  HISTORY_MISSING: ({ earliest }) =>
    serverError(`pruned history unavailable: this node has no blocks between genesis and ${earliest}`),
  TOO_MANY_RESULTS: ({ limit, fits }) =>
    serverError(
      `query returned more than ${limit} results${fits ? `. Try with this block range [${toQuantity(fits.fromBlock)}, ${toQuantity(fits.toBlock)}]` : ''}`,
    ),
  RESULTS_TOO_LARGE: ({ limitBytes }) => serverError(`query returned more than ${limitBytes} bytes of log data`),
  QUERY_TIMEOUT: () => serverError('query timeout exceeded'),
  QUERY_QUEUE_FULL: () => limitExceeded('too many log queries are waiting, try again later'),
  QUERY_CLIENT_FULL: ({ limit }) =>
    limitExceeded(`too many of your log queries (limit ${limit}) are waiting, try again later`),
  TRIE_BUSY: () => limitExceeded('too many proofs are waiting, try again later'),
  // At every attempt at the proof the head had already moved past its block.
  TRIE_UNKNOWN_ROOT: () => serverError('blocks come faster than proofs are made, try again later'),
  PROOF_TOO_DEEP: () => serverError('too much has changed since that block for a proof in its state'),
  // traces (evm/tracers/config.ts)
  TRACE_TIMEOUT: ({ timeoutMs }) => serverError(`execution timeout (timeout = ${timeoutMs / 1_000}s)`),
  TRACE_TOO_LARGE: ({ limitBytes }) => serverError(`the trace is larger than ${limitBytes} bytes`),
  TRACE_QUEUE_FULL: () => limitExceeded('too many traces are waiting, try again later'),
  TRACE_FAILED: ({ reason }) => serverError(reason),
  // submission (txpool/pool/errors.ts, primitives/transaction/transaction.ts, crypto/recovery/recover-sender.ts)
  TRANSACTION_MALFORMED: ({ reason }) => serverError(reason),
  ALREADY_KNOWN: ({ hash }) => new RpcError(CODES.server, 'already known', { hash }),
  TYPE_UNSUPPORTED: () => serverError('transaction type not supported'),
  NO_AUTHORIZATIONS: () => serverError('set code tx must have at least one authorization tuple'),
  NO_BLOBS: () => serverError('blob transaction without blobs'),
  BLOB_VERSION_UNKNOWN: ({ hash }) => serverError(`blob hash of an unknown version: ${hash}`),
  TOO_MANY_BLOBS: ({ have, limit }) => serverError(`too many blobs in transaction: have ${have}, limit ${limit}`),
  INIT_CODE_TOO_LARGE: ({ size, limit }) => serverError(`max initcode size exceeded: code size ${size} limit ${limit}`),
  GAS_LIMIT_TOO_HIGH: ({ have, limit }) => withFigures('exceeds block gas limit', { gas: have, limit }),
  GAS_CAP_EXCEEDED: ({ have, limit }) => serverError(`transaction gas limit too high (cap: ${limit}, tx: ${have})`),
  PROTECTED_TOO_EARLY: () => serverError('replay-protected (EIP-155) transactions are not in force yet'),
  INVALID_CHAIN_ID: ({ have, want }) => serverError(`invalid chain id for signer: have ${have} want ${want}`),
  UNPROTECTED: () => serverError('only replay-protected (EIP-155) transactions allowed over RPC'),
  TIP_ABOVE_FEE_CAP: () => serverError('max priority fee per gas higher than max fee per gas'),
  UNDERPRICED: ({ gotWei, minWei }) =>
    serverError(`transaction underpriced: gas price ${gotWei} wei is below the minimum of ${minWei} wei`),
  OVERSIZED: ({ sizeBytes, limitBytes }) => withFigures('oversized data', { size: sizeBytes, limit: limitBytes }),
  INVALID_SENDER: () => serverError('invalid sender'),
  RECOVERY_QUEUE_FULL: () => serverError('too many transactions are waiting, try again later'),
  RECOVERY_FAILED: () => serverError('the sender could not be recovered, try again later'),
  RECOVERY_CLOSED: () => serverError('the node is stopping'),
  SENDER_NOT_EOA: () => serverError('sender not an eoa'),
  NONCE_MAX: () => serverError('nonce has max value'),
  NONCE_TOO_LOW: ({ got, expected }) => withFigures('nonce too low', { nonce: got, expected }),
  INSUFFICIENT_FUNDS: ({ have, want }) =>
    withFigures('insufficient funds for gas * price + value', { balance: have, required: want }),
  INTRINSIC_GAS: ({ have, want }) => withFigures('intrinsic gas too low', { gas: have, required: want }),
  REPLACEMENT_UNDERPRICED: ({ minFeeWei, minTipWei }) =>
    withFigures('replacement transaction underpriced', { maxFeePerGas: minFeeWei, maxPriorityFeePerGas: minTipWei }),
  POOL_FULL: () => serverError('txpool is full'),
  DELEGATED_IN_FLIGHT: () => serverError('in-flight transaction limit reached for delegated accounts'),
  DELEGATED_NONCE_GAP: () => serverError('gapped-nonce tx from delegated accounts'),
  AUTHORITY_RESERVED: () => serverError('authority already reserved'),
  JOURNAL_FAILED: () => serverError('the node cannot write it to its disk: mend that, then send it again'),
  // development chains (chain/dev)
  REWIND_TOO_FAR: ({ number, oldest }) =>
    serverError(
      `the state of block ${number} is not kept any more, the oldest is that of block ${oldest}: start with --state-history archive`,
    ),
  TOO_MANY_BLOCKS: ({ limit }) => serverError(`at most ${limit} blocks at once`),
  NO_BLOCK: ({ timeoutMs }) => serverError(`no block within ${timeoutMs / 1_000} s`),
  TOO_MANY_SNAPSHOTS: ({ limit }) => serverError(`there are ${limit} snapshots: go back to one of them, or reset`),
  TIMESTAMP_TOO_EARLY: ({ asked, head }) =>
    serverError(`Timestamp ${asked} is lower than or equal to previous block's timestamp ${head}`),
  TIMESTAMP_TOO_LATE: ({ asked, last }) => serverError(`Timestamp ${asked} is later than the last, ${last}`),
  TOO_MANY_IMPERSONATED: ({ limit }) =>
    serverError(`at most ${limit} accounts are impersonated: stop some, or use anvil_autoImpersonateAccount`),
  PARENT_NOT_HEAD: ({ head }) => serverError(`the parent is not the head, ${head}`),
  INVALID_TRANSACTION: ({ index, reason }) => serverError(`transaction ${index}: ${reasonText(reason)}`),
  STATE_MALFORMED: ({ reason }) => serverError(`this is no dumped state: ${reason}`),
  STATE_TOO_LARGE: ({ limitBytes }) =>
    serverError(`the state is larger than ${limitBytes} bytes: keep the chain with --datadir`),
  // peers (network/core/errors.ts)
  TOO_MANY_STATIC_PEERS: ({ limit }) => serverError(`at most ${limit} static peers: remove one first`),
  // keys (rpc/ports.ts)
  UNKNOWN_ACCOUNT: () => unknownAccount(false),
  TYPED_DATA_MALFORMED: ({ reason }) => invalidParams(`invalid argument 2: typed data: ${reason}`),
  LOCKED: () => serverError('authentication needed: password or unlock'),
}

/** Text of the pool for an invalid transaction; it has none for what only a block can say. */
const reasonText = (reason: TransactionError): string =>
  toRpcError(new CodedError(reason))?.message ?? reason.code.toLowerCase().replaceAll('_', ' ')

/** Returns the client's view of an error thrown by a handler; undefined when it is unexpected. */
export const toRpcError = (error: unknown): RpcError | undefined => {
  if (error instanceof RpcError) return error
  if (!isCoded(error) || !Object.hasOwn(DOMAIN_ERRORS, error.code)) return undefined
  const translate = DOMAIN_ERRORS[error.code as keyof typeof DOMAIN_ERRORS] as (detail: object) => RpcError
  return translate(error.detail)
}
