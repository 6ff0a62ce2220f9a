import { decodeErrorResult, decodeEventLog, decodeFunctionResult, encodeFunctionData } from 'viem'
import artifact from '../../contracts/Council.json' with { type: 'json' }
import { COUNCIL_ADDRESS } from '../../src/config/networks.ts'
import { addressFromPrivateKey } from '../../src/crypto/signature.ts'
import { call } from '../../src/evm/calls/run-call.ts'
import { createInterpreter } from '../../src/evm/engines/interpreter/engine.ts'
import type { Log } from '../../src/primitives/receipt/log.ts'
import { bytesToHex, type Hex, hexToBytes } from '../../src/util/bytes.ts'
import { isCoded } from '../../src/util/errors.ts'
import { signedRaw, type TestChain } from './chain.ts'

/* The council contract as its users see it: calls on the head through the call core, transactions through pool and executor. */

export const TOKEN = 10n ** 18n
export const STAKE = 35n * TOKEN
export const COUNCIL_ABI = artifact.abi as readonly unknown[]
const abi = COUNCIL_ABI as never
const engine = createInterpreter()

export const encodeCouncilCall = (functionName: string, args: readonly unknown[] = []): Hex =>
  encodeFunctionData({ abi, functionName, args } as never)

export interface Sent {
  readonly from: Hex
  readonly value?: bigint
}

const run = async (chain: TestChain, { from, value = 0n }: Sent, functionName: string, args: readonly unknown[]) => {
  const head = chain.chain.headBlock
  const env = chain.rules.childEnv(head, { timestamp: Math.floor(chain.clock.ms / 1000) + 1, proposer: from })
  const context = { reader: chain.world.head, prefetch: undefined, env, engine, interrupt: undefined }
  const data = hexToBytes(encodeCouncilCall(functionName, args))
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

export interface Outcome {
  readonly status: number | undefined
  readonly events: ReturnType<typeof eventsOf>
}

/** Raw bytes of a transaction to the contract, with the sender's next nonce by the pool. */
export const councilTransaction = (
  chain: TestChain,
  key: Uint8Array,
  functionName: string,
  args: readonly unknown[] = [],
  value = 0n,
): Uint8Array =>
  signedRaw(key, {
    nonce: Number(chain.pool.service.nextNonce(addressFromPrivateKey(key))),
    to: COUNCIL_ADDRESS,
    value,
    data: hexToBytes(encodeCouncilCall(functionName, args)),
    gasLimit: 3_000_000n,
  })

/** Sends a transaction to the contract and mines it. */
export const transact = async (
  chain: TestChain,
  key: Uint8Array,
  functionName: string,
  args: readonly unknown[] = [],
  value = 0n,
): Promise<Outcome> => {
  const hash = await chain.pool.service.submit(councilTransaction(chain, key, functionName, args, value))
  const block = await chain.mine()
  const index = block.transactions.findIndex(transaction => transaction.hash === hash)
  const receipt = (await chain.blocks.receipts(block.header.number))?.[index]
  return { status: receipt?.status, events: eventsOf(receipt?.logs ?? []) }
}
