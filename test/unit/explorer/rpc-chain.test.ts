import { type Hex, toQuantity, toWord, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import type { NodeClient } from '@tandem/explorer/chain/node-client.ts'
import { NodeValue } from '@tandem/explorer/chain/node-value.ts'
import { RpcChain } from '@tandem/explorer/chain/rpc-chain.ts'
import { expect, test } from 'vitest'
import { testGenesis } from '../../support/chain.ts'
import { localRules } from '../../support/explorer/source/local-rules.ts'

const TRANSACTION = {
  ...{ hash: toWord(7n), type: '0x0', from: ZERO_ADDRESS, to: ZERO_ADDRESS, nonce: '0x0', gas: '0x5208' },
  ...{ gasPrice: '0x1', value: '0x0', input: '0x', v: '0x1b', r: '0x1', s: '0x1' },
}
const RECEIPT = {
  ...{ status: '0x1', cumulativeGasUsed: '0x1', gasUsed: '0x1', effectiveGasPrice: '0x1', contractAddress: null },
  logs: [],
}
const hashOf = (number: number): Hex => toWord(BigInt(number + 1))

const blockOf = (number: number, gasUsed: number) => ({
  ...{ number: toQuantity(number), hash: hashOf(number), parentHash: hashOf(number - 1), timestamp: '0x1' },
  ...{ miner: ZERO_ADDRESS, proposer: ZERO_ADDRESS, stateRoot: hashOf(0), transactionsRoot: hashOf(0) },
  ...{ receiptsRoot: hashOf(0), extraData: '0x', gasLimit: '0x1', gasUsed: toQuantity(gasUsed), size: '0x1' },
  transactions: [TRANSACTION],
})

/** Node with blocks of so much gas; `onReceipts` is told of each request for receipts. */
const nodeOf = (gas: readonly number[], onReceipts: () => Promise<void>, ranges: number[]) => {
  const methods: Readonly<Record<string, (...params: readonly never[]) => unknown>> = {
    native_getBlockWithConsensusInfoRange: (from: Hex, to: Hex) => {
      const numbers = gas.map((_, number) => number).slice(Number(from), Number(to) + 1)
      ranges.push(numbers.length)
      return numbers.map(number => blockOf(number, gas[number] as number))
    },
    eth_getBlockReceipts: async (at: Hex) => {
      await onReceipts()
      return [{ ...RECEIPT, blockHash: hashOf(Number(at)) }]
    },
    native_getRewardShares: (from: Hex, to: Hex) =>
      gas.slice(Number(from), Number(to) + 1).map((_, at) => ({
        ...{ blockHash: hashOf(Number(from) + at), cycle: '0x0', totalFee: '0x0', burntFee: '0x0', minted: '0x0' },
        ...{ proposer: '0x0', miner: '0x0', union: '0x0', miners: {} },
      })),
    native_getProofHeaderRange: () => [],
    native_getInternalTransfers: (at: Hex) => ({ blockHash: hashOf(Number(at)), transfers: [], next: null }),
  }
  const call = async (method: string, ...params: readonly never[]) =>
    new NodeValue(await methods[method]?.(...params), method)
  return { call } as unknown as NodeClient
}

test('receipts are read at once of light blocks, and one after the other of full ones; ranges grow and shrink with the gas', async () => {
  const gas = [...Array<number>(300).fill(0), ...Array<number>(10).fill(60_000_000)]
  const ranges: number[] = []
  let [reading, full, most, mostFull] = [0, 0, 0, 0]
  const node = nodeOf(
    gas,
    async () => {
      most = Math.max(most, ++reading)
      await new Promise(resolve => setImmediate(resolve))
      reading--
    },
    ranges,
  )
  const chain = new RpcChain(node, localRules(testGenesis()))
  const numbers: number[] = []
  for await (const { number } of chain.records(0, gas.length - 1, 0)) {
    numbers.push(number)
    if (number === 299) [mostFull, most] = [most, 0]
    full = number
  }
  expect(numbers).toEqual(gas.map((_, number) => number))
  expect([mostFull, most, full]).toEqual([100, 1, 309])
  expect(ranges).toEqual([8, 100, 100, 100, 2])
})
