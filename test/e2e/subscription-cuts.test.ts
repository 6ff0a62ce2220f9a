import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { getCreateAddress } from 'ethers'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { eventually, type RunningNode, rpc, startDevnet } from '../support/devnet.ts'
import { receiptOf, signerOf } from '../support/load.ts'
import { ROOT } from '../support/node-process.ts'
import { SEED } from '../support/seed.ts'

/** `CUTS=1000 npx vitest run --project e2e subscription-cuts` cuts more often. */
const CUTS = Number(process.env['CUTS'] ?? 100)

interface Place {
  readonly blockNumber: Hex
  readonly logIndex: Hex
}
type Follow = (url: string, filter: object, next: object, onLog: (log: Place) => void) => unknown

/** Client of docs/subscriptions.md as it stands there. */
const followOf = async (library: string): Promise<Follow> => {
  const page = readFileSync(join(ROOT, 'docs/subscriptions.md'), 'utf8')
  const [, code] = page.split(`## ${library}\n`)[1]?.match(/```js\n([\s\S]*?)```/) ?? []
  const folder = join(ROOT, 'node_modules/.cache/tandem-docs')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `follow-${library}.mjs`)
  writeFileSync(file, code as string)
  return (await import(pathToFileURL(file).href)).follow
}

/** Connection that ends after a random number of bytes from the node, until there were enough cuts. */
const cuttingProxy = async (port: number) => {
  let random = SEED
  const below = (limit: number): number => {
    random = (Math.imul(random, 1_103_515_245) + 12_345) >>> 0
    return (random >>> 8) % limit
  }
  let cuts = 0
  const sockets = new Set<Socket>()
  const server = createServer(client => {
    const node = connect(port, '127.0.0.1')
    let left = below(3) === 0 ? below(600) : below(20_000)
    const end = (): void => {
      client.destroy()
      node.destroy()
    }
    for (const socket of [client, node]) {
      sockets.add(socket)
      socket.on('error', end).on('close', end)
    }
    client.pipe(node)
    node.on('data', (chunk: Buffer) => {
      client.write(chunk.subarray(0, cuts < CUTS ? left : undefined))
      left -= chunk.byteLength
      if (left > 0 || cuts >= CUTS || client.destroyed) return
      cuts++
      end()
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/ws`, cuts: () => cuts }
}

let node: RunningNode
beforeAll(async () => {
  node = await startDevnet(['--block-time', '0.25', '--execution', 'wasm'])
})
afterAll(() => node?.stop())

/** Emits three empty logs a call. */
const RUNTIME = '5f5fa05f5fa05f5fa000'
const CREATION = hexToBytes(`0x69${RUNTIME}5f52600a6016f3`)

test.each([
  ['ethers', 0],
  ['viem', 1],
] as const)('%s, cut at random moments under load: no log twice, none missing, in order', async (library, account) => {
  const { address, privateKey } = node.accounts[account] as RunningNode['accounts'][number]
  const signed = signerOf(privateKey, node.chainId)
  const send = (fields: Parameters<typeof signed>[0]) =>
    rpc<Hex>(node.http, 'eth_sendRawTransaction', [signed({ gasLimit: 100_000n, ...fields }).raw])
  await receiptOf(node.http, await send({ nonce: 0, to: null, data: CREATION }))
  const to = getCreateAddress({ from: address, nonce: 0 }).toLowerCase() as Hex
  const proxy = await cuttingProxy(Number(new URL(node.http).port))
  const seen: Place[] = []
  const follow = await followOf(library)
  const filter = { address: to }
  void follow(proxy.url, filter, { fromBlock: '0x0' }, log => seen.push(log))
  let nonce = 1
  while (proxy.cuts() < CUTS) {
    for (let i = 0; i < 5; i++) await send({ nonce: nonce++, to })
    await setTimeout(20)
  }
  await receiptOf(node.http, await send({ nonce: nonce++, to }))
  const sent = 3 * (nonce - 1)
  await eventually(
    'all logs',
    async () => seen.length,
    count => count >= sent,
  )
  await setTimeout(500)
  expect(seen.length).toBe(sent)
  const logs: Place[] = []
  const head = Number(await node.rpc<Hex>('eth_blockNumber'))
  for (let from = 0; from <= head; from += 20) {
    const range = { fromBlock: `0x${from.toString(16)}`, toBlock: `0x${Math.min(head, from + 19).toString(16)}` }
    logs.push(...(await node.rpc<Place[]>('eth_getLogs', [{ ...filter, ...range }])))
  }
  expect(seen).toEqual(logs)
})
