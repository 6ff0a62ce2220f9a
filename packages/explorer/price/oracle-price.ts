import type { Hex } from '@tandem/base/bytes.ts'
import { askResult, type NodeRpc } from '../chain/node-rpc.ts'

/** Round of an oracle contract. */
export interface OracleRound {
  /** null: beyond what a number counts exactly. */
  readonly roundId: number | null
  readonly price: number
  /** Unix seconds. */
  readonly updatedAt: number
}

const LATEST_ROUND: Hex = '0xfeaf968c'
const DECIMALS: Hex = '0x313ce567'
const MAX_DECIMALS = 36
const WORD_DIGITS = 64
const NEGATIVE = 2n ** 255n

/** Reads the last round of a contract with the interface AggregatorV3; undefined when there is no such contract, or no price. */
export const oracleRound = async (node: NodeRpc, oracle: Hex): Promise<OracleRound | undefined> => {
  const [round, [decimals] = []] = await Promise.all([call(node, oracle, LATEST_ROUND), call(node, oracle, DECIMALS)])
  const [roundId, answer, , updatedAt] = round
  if (roundId === undefined || answer === undefined || updatedAt === undefined || decimals === undefined)
    return undefined
  if (answer === 0n || answer >= NEGATIVE || decimals > MAX_DECIMALS || updatedAt > Number.MAX_SAFE_INTEGER)
    return undefined
  return {
    roundId: roundId <= Number.MAX_SAFE_INTEGER ? Number(roundId) : null,
    price: Number(answer) / 10 ** Number(decimals),
    updatedAt: Number(updatedAt),
  }
}

/** Words that a contract answers with; none when the call fails. */
const call = async (node: NodeRpc, to: Hex, data: Hex): Promise<readonly bigint[]> => {
  const result = await askResult(node, 'eth_call', [{ to, data, gas: '0xf4240' }, 'latest'])
  if (typeof result !== 'string' || !/^0x([0-9a-f]{64}){1,16}$/.test(result)) return []
  const count = (result.length - 2) / WORD_DIGITS
  return Array.from({ length: count }, (_, at) =>
    BigInt(`0x${result.slice(2 + at * WORD_DIGITS, 2 + (at + 1) * WORD_DIGITS)}`),
  )
}
