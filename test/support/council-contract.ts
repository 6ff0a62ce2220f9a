import { bytesToHex, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import {
  decodeErrorResult,
  decodeEventLog,
  decodeFunctionResult,
  encodeAbiParameters,
  encodeFunctionData,
  hashMessage,
  parseAbiParameters,
} from 'viem'
import artifact from '../../contracts/Council.json' with { type: 'json' }
import { createInterpreter } from '../../devtools/interpreter/engine.ts'
import { COUNCIL_ADDRESS } from '../../src/config/networks.ts'
import { keccak256Hex } from '../../src/crypto/hash.ts'
import { addressFromPrivateKey, sign } from '../../src/crypto/signature.ts'
import { call } from '../../src/evm/calls/run-call.ts'
import type { Log } from '../../src/primitives/receipt/log.ts'
import { keyOf, signedRaw, type TestChain } from './chain.ts'

/* The council contract as its users see it: calls on the head through the call core, transactions through pool and executor. */

export const TOKEN = 10n ** 18n
export const STAKE = 35n * TOKEN
const abi = artifact.abi as never
const engine = createInterpreter()

export const encodeCouncilCall = (functionName: string, args: readonly unknown[] = []): Hex =>
  encodeFunctionData({ abi, functionName, args } as never)

interface Sent {
  readonly from: Hex
  readonly value?: bigint
}

const WORDS = parseAbiParameters('uint256, address, address, address, address, uint256')

interface Registration {
  readonly chainId: number
  readonly owner: Hex
  readonly reward: Hex
  /** Registrations of the key so far. */
  readonly count?: bigint
}

/** Signature of a validator's key over its registration for an owner. */
export const registrationSignature = (key: Uint8Array, { chainId, owner, reward, count = 0n }: Registration): Hex => {
  const values = [BigInt(chainId), COUNCIL_ADDRESS, addressFromPrivateKey(key), owner, reward, count] as const
  const hash = keccak256Hex(hexToBytes(encodeAbiParameters(WORDS, values)))
  const signature = sign(hexToBytes(hashMessage({ raw: hash })), key).slice()
  // Wallets write the parity as 27 or 28.
  signature[64] = 27 + (signature[64] as number)
  return bytesToHex(signature)
}

/** Keys of the tests, by address. */
const KEYS = new Map(
  Array.from({ length: 256 }, (_, seed) => [addressFromPrivateKey(keyOf(seed)), keyOf(seed)] as const),
)

/** Arguments with what a caller adds after a look at the chain: the signature of the key, the id of the candidate. */
const completed = async (
  chain: TestChain,
  from: Hex,
  functionName: string,
  args: readonly unknown[],
): Promise<readonly unknown[]> => {
  if (functionName === 'approve' && args.length === 1)
    return [...args, (await ask<{ id: bigint }>(chain, 'registrationOf', ...args)).id]
  if (functionName !== 'register' || args.length !== 3) return args
  const [, validator, reward] = args as [string, Hex, Hex]
  const key = KEYS.get(validator)
  const count = await ask<bigint>(chain, 'registrationCount', validator)
  const { chainId } = chain.genesis.params
  return [...args, key ? registrationSignature(key, { chainId, owner: from, reward, count }) : '0x']
}

const run = async (chain: TestChain, { from, value = 0n }: Sent, functionName: string, args: readonly unknown[]) => {
  const head = chain.chain.headBlock
  const env = chain.rules.childEnv(head, { timestamp: Math.floor(chain.clock.ms / 1000) + 1, proposer: from })
  const context = { reader: chain.world.head, prefetch: undefined, env, engine, interrupt: undefined }
  const all = await completed(chain, from, functionName, args)
  const data = hexToBytes(encodeCouncilCall(functionName, all))
  return call(context, {
    number: head.header.number,
    message: { from, to: COUNCIL_ADDRESS, value, data },
  } as never)
}

/** Calls a view function at the head. */
export const ask = async <T>(chain: TestChain, functionName: string, ...args: readonly unknown[]): Promise<T> => {
  const { output } = await run(chain, { from: COUNCIL_ADDRESS }, functionName, args)
  return decodeFunctionResult({ abi, functionName, data: bytesToHex(output) } as never) as T
}

/** Name of the contract's error that a call on the head ends with; undefined: it goes through. */
export const refusal = async (
  chain: TestChain,
  sent: Sent,
  functionName: string,
  ...args: readonly unknown[]
): Promise<string | undefined> => {
  try {
    await run(chain, sent, functionName, args)
    return undefined
  } catch (error) {
    const detail = isCoded(error) ? (error.detail as { code: string; data?: Uint8Array }) : undefined
    if (detail?.data === undefined) throw error
    return (decodeErrorResult({ abi, data: bytesToHex(detail.data) }) as { errorName: string }).errorName
  }
}

export const eventsOf = (logs: readonly Log[]) =>
  logs
    .filter(({ address }) => address === COUNCIL_ADDRESS)
    .map(({ topics, data }) => {
      const { eventName, args } = decodeEventLog({ abi, topics: topics as never, data: bytesToHex(data) })
      return { event: `${eventName}`, ...(args as unknown as Record<string, unknown>) }
    })

interface Outcome {
  readonly status: number | undefined
  readonly events: ReturnType<typeof eventsOf>
}

/** Raw bytes of a transaction to the contract, with the sender's next nonce by the pool. */
export const councilTransaction = async (
  chain: TestChain,
  key: Uint8Array,
  functionName: string,
  args: readonly unknown[] = [],
  value = 0n,
): Promise<Uint8Array> => {
  const from = addressFromPrivateKey(key)
  const all = await completed(chain, from, functionName, args)
  return signedRaw(key, {
    nonce: Number(chain.pool.service.nextNonce(from)),
    to: COUNCIL_ADDRESS,
    value,
    data: hexToBytes(encodeCouncilCall(functionName, all)),
    gasLimit: 3_000_000n,
  })
}

/** Sends a transaction to the contract and mines it. */
export const transact = async (
  chain: TestChain,
  key: Uint8Array,
  functionName: string,
  args: readonly unknown[] = [],
  value = 0n,
): Promise<Outcome> => {
  const hash = await chain.pool.service.submit(await councilTransaction(chain, key, functionName, args, value))
  const block = await chain.mine()
  const index = block.transactions.findIndex(transaction => transaction.hash === hash)
  const receipt = (await chain.blocks.receipts(block.header.number))?.[index]
  return { status: receipt?.status, events: eventsOf(receipt?.logs ?? []) }
}
