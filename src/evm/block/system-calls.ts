import { EMPTY_BYTES, type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { HISTORY_ADDRESS } from '../../config/networks.ts'
import type { ExecutionRules } from '../../rules/execution-rules.ts'
import { EMPTY_CODE_HASH } from '../../state/account.ts'
import type { Journal } from '../../state/journal/journal.ts'
import type { BlockEnv } from '../block-env.ts'
import type { Engine, EngineMessage, EngineOptions } from '../engine.ts'
import type { Prefetcher } from '../prefetched-reader.ts'

/** Message of the protocol to a contract, before or after a block's transactions: without fee, nonce and sender account. */
interface SystemCall {
  readonly to: Hex
  readonly data: Uint8Array
}

/** Runs a system call and returns its output. Throws CodedError<SystemCallError> when it fails. */
export type RunSystemCall = (call: SystemCall) => Promise<Uint8Array>

/** A block without obtainable requests is invalid (EIP-7002). */
export interface SystemCallError {
  readonly code: 'SYSTEM_CALL_FAILED'
  readonly to: Hex
  readonly reason: string
}

export const SYSTEM_ADDRESS: Hex = '0xfffffffffffffffffffffffffffffffffffffffe'
const SYSTEM_GAS = 30_000_000n

/** EIP-4788: beacon chain roots by time. */
const BEACON_ROOTS: Hex = '0x000f3df6d732807ef1319fb7b8bb8522d0beac02'
/** EIP-7002 and EIP-7251: queues of validators' requests, with the type byte of each. */
const REQUEST_QUEUES: readonly { readonly type: number; readonly to: Hex }[] = [
  { type: 1, to: '0x00000961ef480eb55e80d19ad83579a64c007002' },
  { type: 2, to: '0x0000bbddc7ce488642fb579f8b00f3a590007251' },
]

/** Accounts that the calls before the first transaction may read, to be prefetched where reading is asynchronous. */
export const PRE_EXECUTION_ACCOUNTS: readonly Hex[] = [SYSTEM_ADDRESS, BEACON_ROOTS, HISTORY_ADDRESS]

/** Addresses of system contracts, for states that must load accounts before reading them. */
export const SYSTEM_CONTRACTS: readonly Hex[] = [BEACON_ROOTS, HISTORY_ADDRESS, ...REQUEST_QUEUES.map(({ to }) => to)]

/** Slots of the history contract, a ring. */
const HISTORY_SLOTS = 8_191

/** Runs what comes before the first transaction, on contracts that exist. */
export const beginSystemContracts = async (
  journal: Journal,
  env: BlockEnv,
  rules: ExecutionRules,
  run: RunSystemCall,
  prefetch?: Prefetcher,
): Promise<void> => {
  const exists = (address: Hex): boolean => journal.codeHash(address) !== EMPTY_CODE_HASH
  const root = env.beacon?.parentRoot
  if (root !== undefined && exists(BEACON_ROOTS)) await run({ to: BEACON_ROOTS, data: hexToBytes(root) })
  if (!rules.recordsBlockHashes || !exists(HISTORY_ADDRESS)) return
  // EIP-2935 allows the write without the call: empty blocks need no engine.
  const slot = toWord(BigInt((env.number - 1) % HISTORY_SLOTS))
  await prefetch?.slot(HISTORY_ADDRESS, slot)
  journal.setStorage(HISTORY_ADDRESS, slot, env.blockHash(env.number - 1))
  journal.endTransaction()
}

/** Empties the queues after the last transaction; returns type byte and data of each non-empty kind of request (EIP-7685). */
export const takeQueuedRequests = async (journal: Journal, run: RunSystemCall): Promise<readonly Uint8Array[]> => {
  const requests: Uint8Array[] = []
  for (const { type, to } of REQUEST_QUEUES) {
    if (journal.codeHash(to) === EMPTY_CODE_HASH) throw systemCallFailed(to, 'no contract')
    const data = await run({ to, data: EMPTY_BYTES })
    if (data.byteLength > 0) requests.push(Buffer.concat([Uint8Array.of(type), data]))
  }
  return requests
}

/** Converts a system call to a message for an engine or for the VM. */
export const systemMessage = ({ to, data }: SystemCall): EngineMessage => ({
  from: SYSTEM_ADDRESS,
  to,
  value: 0n,
  data,
  gas: SYSTEM_GAS,
  gasPrice: 0n,
  accessList: [],
})

/** Runs a system call on this node's engine. */
export const runSystemCall = async (
  journal: Journal,
  env: BlockEnv,
  engine: Engine,
  call: SystemCall,
  options: EngineOptions = {},
): Promise<Uint8Array> => {
  const { failure, output } = await engine.run(journal, env, systemMessage(call), options)
  if (failure !== null) throw systemCallFailed(call.to, failure.kind === 'halt' ? failure.reason : 'reverted')
  endSystemCall(journal)
  return output
}

/** The sender has no account before and after. */
export const endSystemCall = (journal: Journal): void => {
  journal.sweepTouched()
  journal.endTransaction()
}

export const systemCallFailed = (to: Hex, reason: string): CodedError<SystemCallError> =>
  new CodedError<SystemCallError>({ code: 'SYSTEM_CALL_FAILED', to, reason })
