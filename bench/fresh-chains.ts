/**
 * Time of a suite whose tests have a fresh chain each: createDevnet in the process, a process of anvil, hardhat's network in the process. A test
 * makes a chain, sends a transfer, waits for its receipt and closes the chain. Rounds go in turn; the import of each way counts for its first test.
 *   npx node bench/fresh-chains.ts [--tests N]
 */
import { spawn } from 'node:child_process'
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { rpc } from '../test/support/devnet.ts'
import { findAnvil } from '../test/support/foundry.ts'
import { eventually, freePort } from '../test/support/node-process.ts'

const { values } = parseArgs({ options: { tests: { type: 'string', default: '100' } } })
const tests = Number(values.tests)

interface FreshChain {
  readonly request: (method: string, params: readonly unknown[]) => Promise<unknown>
  readonly close: () => Promise<unknown> | unknown
}

const openTandem = async (): Promise<FreshChain> => {
  const { createDevnet } = await import('../src/devnet/create-devnet.ts')
  const chain = await createDevnet()
  return { request: (method, params) => chain.provider.request({ method, params }), close: () => chain.close() }
}

const openAnvil = async (): Promise<FreshChain> => {
  const found = findAnvil()
  if (!('found' in found)) throw new Error(found.missing)
  const port = await freePort()
  const child = spawn(found.found.anvil, ['--port', String(port), '--silent'], { stdio: 'ignore' })
  const url = `http://127.0.0.1:${port}`
  const request = (method: string, params: readonly unknown[]) => rpc(url, method, params)
  const everyMs = 2
  await eventually('anvil', () => request('eth_chainId', []).catch(() => undefined), { everyMs })
  return { request, close: () => child.kill() }
}

const openHardhat = async (): Promise<FreshChain> => {
  const { createHardhatRuntimeEnvironment } = await import('hardhat/hre')
  hardhat ??= createHardhatRuntimeEnvironment({})
  const { provider, close } = await (await hardhat).network.create()
  return { request: (method, params) => provider.request({ method, params: [...params] }), close }
}
let hardhat: Promise<Awaited<ReturnType<typeof import('hardhat/hre')['createHardhatRuntimeEnvironment']>>> | undefined

/** One test of the suite; returns its milliseconds. */
const test = async (open: () => Promise<FreshChain>): Promise<number> => {
  const beganMs = performance.now()
  const { request, close } = await open()
  const [from, to] = (await request('eth_accounts', [])) as readonly string[]
  const hash = await request('eth_sendTransaction', [{ from, to, value: '0x1' }])
  await eventually('a receipt', async () => (await request('eth_getTransactionReceipt', [hash])) ?? undefined, {
    everyMs: 2,
  })
  await close()
  return performance.now() - beganMs
}

const WAYS = { createDevnet: openTandem, 'anvil, a process': openAnvil, "hardhat's network": openHardhat }
const times = new Map<string, number[]>(Object.keys(WAYS).map(name => [name, []]))
for (let round = 0; round < tests; round++)
  for (const [name, open] of Object.entries(WAYS)) times.get(name)?.push(await test(open))
console.log(`load ${loadavg().map(load => load.toFixed(1))}, ${tests} tests`)
for (const [name, list] of times) {
  const [first = Number.NaN] = list
  const sorted = list.toSorted((a, b) => a - b)
  const sum = list.reduce((total, ms) => total + ms, 0)
  const figures = [sum, first, sorted[sorted.length >> 1] as number].map(ms => ms.toFixed(1))
  console.log(`${name}: all ${figures[0]} ms, first ${figures[1]}, median ${figures[2]}`)
}
process.exit()
