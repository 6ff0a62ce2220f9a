import { Contract, JsonRpcProvider, Wallet } from 'ethers'
import { createPublicClient, createWalletClient, defineChain, encodeFunctionData, type Hex, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run } from '../support/command.ts'
import { Committee, type NodeOfMany } from '../support/committee.ts'
import { rpc } from '../support/devnet.ts'
import { findFoundry } from '../support/foundry.ts'
import { compileLedger, LEDGER_ABI, SINK } from './clients-ledger.ts'

/*
 * A committee of four validators that runs everything on EthereumJS, used by viem, ethers and cast. A follower runs the same blocks on
 * the engine in WebAssembly: hashes, calls, estimates, access lists and traces of both must be equal.
 */

const foundry = findFoundry()
const compiled = compileLedger()
const LOOP = '0x5b5f56'

let committee: Committee
let validators: readonly NodeOfMany[]
let follower: NodeOfMany
let ledger: Hex
const hashes: Hex[] = []

const first = (): NodeOfMany => validators[0] as NodeOfMany
const urlOf = (node: NodeOfMany): string => node.ready.http
const keyOf = (index: number): Hex => committee.accounts[index]?.privateKey as Hex

/** Requests again after a timeout: the first use of an engine loads it, on a loaded machine for longer than a call may take. */
const asked = async (node: NodeOfMany, method: string, params: readonly unknown[], tries = 6): Promise<unknown> => {
  try {
    return await rpc(node.ready.operator as string, method, params)
  } catch (error) {
    if (tries > 1 && /timeout/.test(String(error))) return asked(node, method, params, tries - 1)
    throw new Error(`${method} of ${node.name}`, { cause: error })
  }
}

const clientsOf = () => {
  const chain = defineChain({
    id: first().ready.chainId,
    name: 'committee',
    nativeCurrency: { name: 'dTNDM', symbol: 'dTNDM', decimals: 18 },
    rpcUrls: { default: { http: [urlOf(first())] } },
  })
  const account = privateKeyToAccount(keyOf(0))
  const options = { chain, transport: http(), pollingInterval: 100 }
  return {
    account,
    reader: createPublicClient({ ...options, cacheTime: 0 }),
    wallet: createWalletClient({ ...options, account }),
  }
}
let clients: ReturnType<typeof clientsOf>

beforeAll(async () => {
  committee = await Committee.open(4, 0.5, { accounts: 3, args: ['--execution', 'ethereumjs'] })
  validators = [...committee.nodes]
  await committee.start()
  follower = await committee.add('wasm')
  await follower.start(validators, ['--execution', 'wasm'])
  clients = clientsOf()
})
afterAll(() => committee?.close())

test('viem deploys, sends, reads, and gets the data of a revert', async () => {
  const { reader, wallet, account } = clients
  const { abi, bytecode } = { abi: LEDGER_ABI, bytecode: compiled.bytecode }
  const deployed = await reader.waitForTransactionReceipt({
    hash: await wallet.deployContract({ abi, bytecode, args: [1_000n] }),
  })
  ledger = deployed.contractAddress as Hex
  const hash = await wallet.writeContract({ address: ledger, abi, functionName: 'transfer', args: [SINK, 7n] })
  const { status, logs } = await reader.waitForTransactionReceipt({ hash })
  expect([deployed.status, status, logs.length]).toEqual(['success', 'success', 1])
  expect(await reader.readContract({ address: ledger, abi, functionName: 'balanceOf', args: [SINK] })).toBe(7n)
  const refused = reader.simulateContract({
    address: ledger,
    abi,
    functionName: 'transfer',
    args: [SINK, 5_000n],
    account,
  })
  await expect(refused).rejects.toThrow(/InsufficientBalance\(uint256 available, uint256 required\)/)
  hashes.push(deployed.transactionHash, hash)
})

test('ethers sends, waits and reads', async () => {
  const provider = new JsonRpcProvider(urlOf(first()), undefined, { polling: true, pollingInterval: 100 })
  const contract = new Contract(ledger, compiled.abi as never, new Wallet(keyOf(1), provider))
  const receipt = await (await contract.getFunction('buy').send({ value: 9n })).wait()
  expect(receipt?.status).toBe(1)
  expect(await contract.getFunction('balanceOf').staticCall(committee.accounts[1]?.address)).toBeGreaterThan(0n)
  hashes.push(receipt?.hash as Hex)
  provider.destroy()
})

describe.runIf('found' in foundry)('cast', () => {
  test('sends and calls', async () => {
    const { cast } = 'found' in foundry ? foundry.found : { cast: '' }
    const options = { cwd: committee.dir, env: { ETH_RPC_URL: urlOf(first()), HOME: committee.dir } }
    const sent = await run(
      cast,
      ['send', '--json', '--private-key', keyOf(2), ledger, 'buy()', '--value', '3'],
      options,
    )
    expect([sent.stderr, sent.code]).toEqual(['', 0])
    const receipt = JSON.parse(sent.stdout) as { status: Hex; transactionHash: Hex }
    expect(receipt.status).toBe('0x1')
    const called = await run(cast, ['call', ledger, 'balanceOf(address)(uint256)', SINK], options)
    expect(called.stdout.trim()).toBe('7')
    hashes.push(receipt.transactionHash)
  })
})

test('a call without end is stopped by time, and others are answered meanwhile', async () => {
  const call = { to: SINK, gas: '0x5f5e100' }
  const endless = rpc(urlOf(first()), 'eth_call', [call, 'latest', { [SINK]: { code: LOOP } }]).catch(error => error)
  expect(await rpc(urlOf(first()), 'eth_call', [{ to: SINK }, 'latest'])).toBe('0x')
  expect(await endless).toMatchObject({ message: expect.stringMatching(/timeout|out of gas/) })
})

test('calls, estimates and access lists are those of the other engine', async () => {
  const height = await rpc<Hex>(urlOf(first()), 'eth_blockNumber')
  await follower.reach(Number(height))
  const data = encodeFunctionData({ abi: LEDGER_ABI, functionName: 'transfer', args: [SINK, 1n] })
  const call = { from: committee.accounts[0]?.address, to: ledger, data }
  const tooMuch = {
    ...call,
    data: encodeFunctionData({ abi: LEDGER_ABI, functionName: 'transfer', args: [SINK, 9_999n] }),
  }
  const requests: readonly (readonly [method: string, ...params: readonly unknown[]])[] = [
    ['eth_call', call, height],
    ['eth_estimateGas', call, height],
    ['eth_createAccessList', call, height],
    ['eth_createAccessList', tooMuch, height],
    ['debug_traceCall', call, height, { tracer: 'callTracer' }],
    ['debug_traceCall', tooMuch, height, {}],
    ['eth_simulateV1', { blockStateCalls: [{ calls: [call, tooMuch] }], traceTransfers: true }, height],
  ]
  for (const [method, ...params] of requests) {
    const responses = await Promise.all([first(), follower].map(node => asked(node, method, params)))
    expect(responses[0], method).toEqual(responses[1])
  }
})

test.each([
  {},
  { enableMemory: true, enableReturnData: true },
  { tracer: 'callTracer', tracerConfig: { withLog: true } },
  { tracer: 'prestateTracer', tracerConfig: { diffMode: true } },
])(
  'traces are those of the other engine to the byte: %o',
  async config => {
    expect(hashes.length).toBeGreaterThanOrEqual(3)
    for (const hash of hashes) {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'debug_traceTransaction', params: [hash, config] })
      const texts = await Promise.all(
        [first(), follower].map(async node => {
          const headers = { 'content-type': 'application/json' }
          return (await fetch(node.ready.operator as string, { method: 'POST', headers, body })).text()
        }),
      )
      expect(texts[0]).toBe(texts[1])
      expect(texts[0]).toContain('"result"')
    }
  },
  60_000,
)

test('all five have the same chain', async () => {
  const number = Number(await rpc<Hex>(urlOf(first()), 'eth_blockNumber'))
  const heads = await Promise.all([...validators, follower].map(node => node.reach(number)))
  expect(new Set(heads).size).toBe(1)
})
