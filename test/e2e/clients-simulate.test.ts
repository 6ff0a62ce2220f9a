import {
  type Client,
  concatHex,
  createPublicClient,
  defineChain,
  type Hex,
  http,
  parseEther,
  RpcRequestError,
  toHex,
  zeroAddress,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { simulateBlocks, simulateCalls } from 'viem/actions'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SIMULATE_LIMITS } from '../../src/config/limits/clients.ts'
import { type RunningNode, startDevnet } from '../support/devnet.ts'
import { type CompiledLedger, compileLedger, LEDGER_ABI, RESTING_BASE_FEE, SINK } from './clients-ledger.ts'

/** Simulated blocks (eth_simulateV1) by a real client on a real node, and by one that means harm. */
const abi = LEDGER_ABI
const LEDGER = '0x00000000000000000000000000000000000a1ed6'
let node: RunningNode
let client: Client
let ledger: CompiledLedger
let account: Hex

beforeAll(async () => {
  ledger = compileLedger()
  node = await startDevnet(['--block-time', '0.25'])
  account = privateKeyToAccount(node.accounts[1]?.privateKey as Hex).address
  const chain = defineChain({
    id: node.chainId,
    name: 'devnet',
    nativeCurrency: { name: 'dTNDM', symbol: 'dTNDM', decimals: 18 },
    rpcUrls: { default: { http: [node.http] } },
  })
  client = createPublicClient({ chain, transport: http(), cacheTime: 0 })
})
afterAll(() => node?.stop())

const rpc = async (method: string, params: readonly unknown[]) => {
  const response = await fetch(node.http, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  return (await response.json()) as { result?: unknown; error?: { code: number; message: string } }
}
const simulate = (blockStateCalls: readonly unknown[], more: object = {}) =>
  rpc('eth_simulateV1', [{ blockStateCalls, ...more }, 'latest'])

test('simulates as many blocks as it may, beyond the cycles whose council is known', async () => {
  const { result, error } = await simulate(Array.from({ length: SIMULATE_LIMITS.blocks }, () => ({})))
  expect(error).toBeUndefined()
  expect(result).toHaveLength(SIMULATE_LIMITS.blocks)
})

describe('viem', () => {
  test('simulates blocks: contract calls decoded, reverts named, state carried on', async () => {
    // The slot of balanceOf is not known here: the ledger is created by a call of its own.
    const [creation, block] = await simulateBlocks(client, {
      blocks: [
        { calls: [{ from: account, to: null, data: concatHex([ledger.bytecode, toHex(100n, { size: 32 })]) }] },
        {
          stateOverrides: [{ address: LEDGER, code: ledger.runtime }],
          calls: [
            { from: account, to: LEDGER, abi, functionName: 'divide', args: [7n, 2n] },
            { from: account, to: LEDGER, abi, functionName: 'refuse' },
            { from: account, to: LEDGER, abi, functionName: 'divide', args: [7n, 0n] },
            { from: account, to: LEDGER, abi, functionName: 'blockFacts' },
          ],
        },
      ],
    })
    expect(creation?.calls[0]).toMatchObject({ status: 'success' })
    expect(creation?.calls[0]?.logs).toHaveLength(1)
    expect(block?.calls.map(({ status }) => status)).toEqual(['success', 'failure', 'failure', 'success'])
    expect(block?.calls[0]?.result).toBe(3n)
    expect(block?.calls[3]?.result).toEqual([block?.number, BigInt(node.chainId), 0n])
    expect(block?.number).toBe((creation?.number ?? 0n) + 1n)
    expect(block?.parentHash).toBe(creation?.hash)
    expect(block?.timestamp).toBeGreaterThan(creation?.timestamp ?? 0n)
  })

  test('traces transfers, and counts fees when they are to count', async () => {
    const [block] = await simulateBlocks(client, {
      traceTransfers: true,
      validation: true,
      returnFullTransactions: true,
      blocks: [
        {
          calls: [{ from: account, to: SINK, value: 5n, maxFeePerGas: 2n * RESTING_BASE_FEE, gas: 21_000n }],
        },
      ],
    })
    expect(block?.baseFeePerGas).toBe(RESTING_BASE_FEE)
    expect(block?.calls[0]?.logs?.[0]).toMatchObject({
      address: `0x${'ee'.repeat(20)}`,
      data: `0x${'5'.padStart(64, '0')}`,
    })
    expect(block?.transactions[0]).toMatchObject({ from: account.toLowerCase(), to: SINK.toLowerCase(), value: 5n })
  })

  test('sums up what calls change in assets', async () => {
    const { assetChanges, results } = await simulateCalls(client, {
      account,
      calls: [{ to: SINK, value: parseEther('1.5') }],
      traceAssetChanges: true,
    })
    expect(results.map(({ status }) => status)).toEqual(['success'])
    expect(assetChanges.map(({ token, value }) => [token.symbol, value.diff])).toEqual([['ETH', -parseEther('1.5')]])
  })

  test('gets the reason why a block cannot include a call', async () => {
    const error = await simulateBlocks(client, {
      validation: true,
      blocks: [{ calls: [{ from: account, to: SINK, nonce: 99, maxFeePerGas: 2n * RESTING_BASE_FEE }] }],
    }).catch((thrown: unknown) => thrown as { walk(test: (inner: unknown) => boolean): RpcRequestError })
    const cause = 'walk' in error ? error.walk(inner => inner instanceof RpcRequestError) : undefined
    expect(cause).toMatchObject({ code: -38011 })
  })
})

describe('a hostile client', () => {
  const looper = { [LEDGER]: { code: '0x5b5f56' } }
  const call = { from: zeroAddress, to: LEDGER }

  test('gets no more blocks, calls or numbers than there may be', async () => {
    const { blocks, calls } = SIMULATE_LIMITS
    const head = Number(((await rpc('eth_blockNumber', [])).result as string) ?? 0)
    const answers = await Promise.all([
      simulate(Array(blocks + 1).fill({})),
      simulate([{ blockOverrides: { number: `0x${(head + 10_000).toString(16)}` } }]),
      simulate([{ blockOverrides: { number: `0x${'f'.repeat(16)}` } }]),
      simulate([{ blockOverrides: { time: `0x${'f'.repeat(16)}` } }]),
      simulate([{ calls: Array(calls + 1).fill(call) }]),
    ])
    expect(answers.map(({ error }) => error?.code)).toEqual(Array(5).fill(-38026))
    const deep = JSON.parse(`${'['.repeat(30)}${']'.repeat(30)}`) as unknown
    expect((await simulate([deep])).error?.code).toBe(-32602)
    expect((await simulate([{ calls: [{ to: deep }] }])).error?.code).toBe(-32602)
  })

  test('cannot send precompiles in a circle', async () => {
    const [one, two] = ['1', '2'].map(digit => `0x${digit.padStart(40, '0')}`)
    const circle = {
      [one as string]: { movePrecompileToAddress: two },
      [two as string]: { movePrecompileToAddress: one },
    }
    expect((await simulate([{ stateOverrides: circle }])).error).toMatchObject({ code: -32000 })
    expect(
      (await simulate([{ stateOverrides: { [one as string]: { movePrecompileToAddress: one } } }])).error?.code,
    ).toBe(-38022)
  })

  test('a client that loops for ever in every call is stopped, and does not delay others', async () => {
    const looping = Promise.all(
      Array.from({ length: 4 }, () => simulate([{ stateOverrides: looper, calls: [call, call] }, { calls: [call] }])),
    )
    let isOver = false
    void looping.then(() => {
      isOver = true
    })
    const { result } = await rpc('eth_call', [{ to: SINK }, 'latest'])
    expect(result).toBe('0x')
    expect(isOver).toBe(false)
    // The first call takes all the gas there is for all of them.
    for (const { error } of await looping) expect([-38026, -32016]).toContain(error?.code)
  })

  test('gets all blocks there may be, each standing on the one before by its hash', async () => {
    // BLOCKHASH(NUMBER - 1), stored.
    const recorder = { [LEDGER]: { code: '0x60014303405f55' } }
    const blocks = Array.from({ length: 64 }, () => ({ stateOverrides: recorder, calls: [call] }))
    const { result } = await simulate(blocks)
    const made = result as { hash: string; parentHash: string; calls: { status: string }[] }[]
    expect(made).toHaveLength(64)
    for (const [i, block] of made.entries()) {
      expect(block.calls[0]?.status).toBe('0x1')
      if (i > 0) expect(block.parentHash).toBe(made[i - 1]?.hash)
    }
  })
})
