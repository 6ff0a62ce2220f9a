import {
  bigintToBytes,
  bytesToHex,
  concatBytes,
  type Hex,
  hexToBytes,
  toQuantity,
  ZERO_ADDRESS,
} from '@tandem/base/bytes.ts'
import { isForkSince } from '../../../src/config/forks.ts'
import { keccak256 } from '../../../src/crypto/hash.ts'
import { addressFromPrivateKey, sign } from '../../../src/crypto/signature.ts'
import { runMessageTransaction } from '../../../src/evm/block/run-transaction.ts'
import { type BlockPosition, invalidSimulatedReason } from '../../../src/evm/block/transaction-validity.ts'
import type { BlockEnv } from '../../../src/evm/block-env.ts'
import { simulatedTransaction } from '../../../src/evm/calls/simulate/simulate-call.ts'
import type { Engine, EngineMessage } from '../../../src/evm/engine.ts'
import { encodeRlp } from '../../../src/primitives/rlp/rlp.ts'
import type { Authorization, Transaction } from '../../../src/primitives/transaction/transaction.ts'
import { executionRulesAt } from '../../../src/rules/execution-rules.ts'
import { minimumGas } from '../../../src/rules/intrinsic-gas.ts'
import type { Journal } from '../../../src/state/journal/journal.ts'
import { ADDRESSES, type Case, nextMessage } from '../../property/evm/cases.ts'
import type { Random } from '../../property/executor-plans.ts'
import { type MemoryState, memoryAccount } from '../../unit/state/memory-state.ts'

/* Random messages as whole transactions, run here in a journal as a block does. */

/** Message of a transaction, with its authorizations (EIP-7702). */
export interface RandomMessage extends EngineMessage {
  readonly authorizationList?: readonly Authorization[]
}

/** Result of a transaction, with the members of eth_simulateV1. */
export interface ExpectedCall {
  readonly status: Hex
  readonly gasUsed: Hex
  readonly returnData: Hex
  readonly logs: readonly { readonly address: Hex; readonly topics: readonly Hex[]; readonly data: Hex }[]
}

const AUTHORITY_SECRETS = [1, 2, 3].map(n => keccak256(Uint8Array.of(0xa, n)))
const AUTHORITIES = AUTHORITY_SECRETS.map(secret => addressFromPrivateKey(secret))
const authorizationFor = (random: Random): Authorization => {
  const chainId = BigInt(random.int(8) < 7 ? random.int(2) : 2)
  const address = random.chance(5) ? ZERO_ADDRESS : random.pick([...ADDRESSES, ...AUTHORITIES])
  const nonce = BigInt(random.int(4))
  const payload = encodeRlp([bigintToBytes(chainId), hexToBytes(address), bigintToBytes(nonce)])
  const signature = sign(keccak256(concatBytes(Uint8Array.of(5), payload)), random.pick(AUTHORITY_SECRETS))
  const r = random.chance(12) ? new Uint8Array(32) : signature.subarray(0, 32)
  return { chainId, address, nonce, yParity: signature[64] as number, r, s: signature.subarray(32, 64) }
}

const withoutZeros = (bytes: Uint8Array): Hex => toQuantity(BigInt(bytesToHex(bytes)))

/** Makes the authorities exist: to anvil every account does, so that a refund for one that does not would be its own. */
export const addAuthorities = (state: MemoryState): void => {
  for (const address of AUTHORITIES) state.accounts.set(address, memoryAccount({ balance: 3n }))
}

/** A message and those after it, as its fork allows them. */
export const messagesOf = ({ message, fork }: Case, count: number, random: Random): readonly RandomMessage[] => {
  const messages: RandomMessage[] = []
  for (let last: EngineMessage = message; messages.length < count; last = nextMessage(last, random)) {
    const authorizes = isForkSince(fork, 'prague') && last.to !== null && random.chance(6)
    messages.push({
      ...last,
      ...(authorizes && random.chance(2) && { to: random.pick(AUTHORITIES) }),
      accessList: isForkSince(fork, 'berlin') ? last.accessList : [],
      blobVersionedHashes: [],
      ...(authorizes && {
        authorizationList: Array.from({ length: 1 + random.int(3) }, () => authorizationFor(random)),
      }),
    })
  }
  return messages
}

const typed = (tx: Transaction, { accessList, authorizationList }: RandomMessage): Transaction => {
  if (authorizationList !== undefined) return { ...tx, type: 4, authorizationList }
  return accessList.length > 0 ? tx : { ...tx, type: 0 }
}

const transactionOf = (
  message: RandomMessage,
  { rules, env }: BlockPosition,
  nonce: Transaction['nonce'],
): Transaction => {
  const { chainId } = env.params
  const fields = { from: message.from, to: message.to, gasPrice: message.gasPrice, value: message.value }
  const call = { ...fields, data: message.data, accessList: message.accessList }
  const tx = typed(simulatedTransaction(call, { chainId, nonce, gasLimit: 0n }), message)
  return { ...tx, gasLimit: minimumGas(tx, rules.intrinsic) + message.gas }
}

/** The transaction as a call object. */
const callOf = ({
  from,
  to,
  gasLimit,
  maxFeePerGas,
  value,
  data,
  accessList,
  authorizationList,
}: Transaction): object => ({
  from,
  ...(to !== null && { to }),
  gas: toQuantity(gasLimit),
  value: toQuantity(value),
  input: bytesToHex(data),
  ...(authorizationList === undefined
    ? { gasPrice: toQuantity(maxFeePerGas) }
    : { maxFeePerGas: toQuantity(maxFeePerGas), maxPriorityFeePerGas: toQuantity(maxFeePerGas) }),
  ...(accessList.length > 0 && { accessList }),
  ...(authorizationList !== undefined && {
    authorizationList: authorizationList.map(({ chainId, address, nonce, yParity, r, s }) => ({
      chainId: toQuantity(chainId),
      address,
      nonce: toQuantity(nonce),
      yParity: toQuantity(yParity),
      r: withoutZeros(r),
      s: withoutZeros(s),
    })),
  }),
})

/** Runs a message as the next transaction of its block; undefined when no block may hold it. */
export const runMessage = async (
  engine: Engine,
  journal: Journal,
  env: BlockEnv,
  message: RandomMessage,
): Promise<{ readonly call: object; readonly expected: ExpectedCall } | undefined> => {
  const at: BlockPosition = { env, rules: executionRulesAt(env.params, env.number), gasUsed: 0n, blobGasUsed: 0n }
  const tx = transactionOf(message, at, journal.nonce(message.from))
  if (invalidSimulatedReason(journal, at, tx, true) !== undefined) return undefined
  const { receipt, result } = await runMessageTransaction(journal, at, tx, engine, {})
  const expected = {
    status: toQuantity(receipt.status ?? 0),
    gasUsed: toQuantity(receipt.gasUsed),
    returnData: bytesToHex(result.output),
    logs: receipt.logs.map(({ address, topics, data }) => ({ address, topics, data: bytesToHex(data) })),
  }
  return { call: callOf(tx), expected }
}
