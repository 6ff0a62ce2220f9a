import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, connect as dial, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Hex } from '@tandem/base/bytes.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addressFromPrivateKey } from '../../src/crypto/signature.ts'
import { accountsFromMnemonic, TEST_MNEMONIC } from '../../src/devnet/accounts.ts'
import { rpc } from '../support/devnet.ts'
import { type NodeProcess, type Ready, spawnNode } from '../support/node-process.ts'
import { exchange, request } from '../support/raw-http.ts'
import { Socket } from '../support/rpc/socket.ts'

/*
 * Unlocked keys sign on the operator port alone: a proxy on the same machine reaches the public port from the loopback like the
 * operator does, and would sign for everybody.
 */

const KEY = 'a5'.repeat(32)
const HELD = addressFromPrivateKey(Buffer.from(KEY, 'hex'))
const OTHER: Hex = `0x${'12'.repeat(20)}`
const LOOPBACKS = ['127.0.0.1', 'localhost', '::1', '127.0.0.2'] as const

let dir: string
let genesis: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'tandem-test-'))
  genesis = join(dir, 'genesis.json')
  const stake = (35_000_000n * 10n ** 18n).toString()
  writeFileSync(join(dir, 'key'), KEY, { mode: 0o600 })
  const council = [{ name: 'only', validator: OTHER, reward: OTHER, stake }]
  writeFileSync(
    genesis,
    JSON.stringify({
      ...{ format: 'tandem/1', network: 'testnet', timestamp: 1_735_689_600, council, foundation: OTHER },
      alloc: { [HELD]: { balance: stake } },
    }),
  )
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const start = (host: string): NodeProcess =>
  spawnNode([
    ...['start', '--network', 'testnet', '--genesis', genesis, '--unlock', join(dir, 'key'), '--host', host],
    ...['--datadir', join(dir, host.replaceAll(':', '-')), '--port', '0', '--operator-port', '0'],
  ])

type Ask = (method: string, params: readonly unknown[]) => Promise<unknown>

const call = { from: HELD, to: OTHER, value: '0x1', gas: '0x5208', nonce: '0x0' }
const fee = { gasPrice: '0x6fc23ac00' }
const unknown = { code: -32000, message: 'unknown account' }
const noFee = { code: -32000, message: 'missing gasPrice or maxFeePerGas/maxPriorityFeePerGas' }

/** [method, params, refusal]: arguments are looked at first, then fees, then the account (docs/interface.md#authentication, docs/interface.md#standard-methods, docs/interface.md#errors). */
const REFUSALS: readonly (readonly [
  string,
  readonly unknown[],
  { readonly code: number; readonly message: string },
])[] = [
  ['eth_sign', [HELD, '0x1234'], unknown],
  ['eth_sign', [OTHER, '0x1234'], unknown],
  ['eth_sign', [HELD], { code: -32602, message: 'missing value for required argument 2' }],
  ['eth_sign', [HELD, '1234'], { code: -32602, message: 'invalid argument 2: hex string without 0x prefix' }],
  ['eth_signTransaction', [call], noFee],
  ['eth_signTransaction', [{ ...call, from: OTHER }], noFee],
  ['eth_signTransaction', [{ ...call, ...fee }], unknown],
  ['eth_signTransaction', [{ ...call, maxFeePerGas: '0x6fc23ac00' }], unknown],
  ['eth_signTransaction', [], { code: -32602, message: 'missing value for required argument 1' }],
  ['eth_sendTransaction', [call], unknown],
  ['eth_sendTransaction', [{ ...call, ...fee }], unknown],
  ['eth_sendTransaction', [{ ...call, ...fee, maxFeePerGas: '0x1' }], unknown],
  ['eth_sendTransaction', [], { code: -32602, message: 'missing value for required argument 1' }],
]

const refusesToSign = async (ask: Ask): Promise<void> => {
  expect(await ask('eth_accounts', [])).toEqual([])
  for (const [method, params, expected] of REFUSALS)
    await expect(ask(method, params), `${method} ${JSON.stringify(params)}`).rejects.toMatchObject({
      rpcCode: expected.code,
      message: expected.message,
    })
  for (const method of ['personal_sign', 'personal_sendTransaction', 'personal_unlockAccount', 'personal_listAccounts'])
    await expect(ask(method, [])).rejects.toMatchObject({ rpcCode: -32601 })
}

const overHttp =
  (url: string): Ask =>
  (method, params) =>
    rpc(url, method, params)

const overSocket = async (url: string): Promise<{ readonly ask: Ask; close(): void }> => {
  const socket = await Socket.open(url)
  return {
    async ask(method, params) {
      const { error, result } = await socket.call(method, params)
      if (error !== undefined) throw Object.assign(new Error(error.message), { rpcCode: error.code })
      return result
    },
    close: () => socket.close(),
  }
}

/** A proxy on the same machine: all it forwards comes from the loopback. */
const proxyTo = async (url: string): Promise<{ readonly url: string; readonly server: Server }> => {
  const { hostname, port } = new URL(url)
  const server = createServer(client => {
    const upstream = dial(Number(port), hostname.replace(/^\[|\]$/g, ''))
    client.pipe(upstream).pipe(client)
    for (const socket of [client, upstream]) socket.on('error', () => socket.destroy())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}`, server }
}

describe.each(LOOPBACKS)('a node with an unlocked key that listens on %s', host => {
  let node: NodeProcess
  let ready: Ready
  beforeAll(async () => {
    node = start(host)
    ready = await node.ready
  })
  afterAll(async () => {
    await node.kill()
  })

  test('does not sign on its public port, over either transport or behind a proxy', async () => {
    await refusesToSign(overHttp(ready.http))
    const socket = await overSocket(ready.ws)
    await refusesToSign(socket.ask)
    socket.close()
    const proxy = await proxyTo(ready.http)
    await refusesToSign(overHttp(proxy.url))
    proxy.server.close()
  })

  test('signs on its operator port', async () => {
    const operator = ready.operator as string
    expect(await rpc(operator, 'eth_accounts')).toEqual([HELD])
    expect(await rpc<Hex>(operator, 'eth_sign', [HELD, '0x1234'])).toHaveLength(132)
    expect(await rpc<Hex>(operator, 'eth_signTransaction', [{ ...call, ...fee }])).toMatch(/^0xf8/)
    const hash = await rpc<Hex>(operator, 'eth_sendTransaction', [{ ...call, ...fee }])
    expect(await rpc(ready.http, 'eth_getTransactionByHash', [hash])).toMatchObject({ from: HELD })
    await expect(rpc(operator, 'eth_sign', [OTHER, '0x1234'])).rejects.toMatchObject({ message: 'unknown account' })
  })
})

describe('the operator port, asked by a page in the browser of its operator', () => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_accounts', params: [] })
  let node: NodeProcess
  let port: number
  beforeAll(async () => {
    node = start('127.0.0.1')
    port = Number(new URL((await node.ready).operator as string).port)
  })
  afterAll(async () => {
    await node.kill()
  })

  const post = (host: string, fields: Record<string, string> = {}) =>
    exchange(port, request('POST /', { host, 'content-type': 'application/json', ...fields }, body))

  test.each([
    ['a name that was rebound', 'evil.example', {}, 403],
    ['a name that was rebound, with the port', 'evil.example:8547', {}, 403],
    ['a name that begins like an address', '127.0.0.1.evil.example', {}, 403],
    ['a name that ends like the machine', 'evil.localhost', {}, 403],
    ['an address behind a name', 'evil.example@127.0.0.1', {}, 403],
    ['a page of elsewhere', '127.0.0.1', { origin: 'https://evil.example' }, 403],
    ['a page without an origin', '127.0.0.1', { origin: 'null' }, 403],
    ['a page that says it sends text', '127.0.0.1', { 'content-type': 'text/plain' }, 415],
    ['a page that asks first', '127.0.0.1', { origin: 'https://evil.example', 'content-type': 'text/plain' }, 403],
    ['a page of this machine', 'localhost:8547', { origin: 'http://localhost:3000' }, 200],
    ['no page', '127.0.0.1', {}, 200],
  ] as const)('%s', async (_, host, fields, status) => {
    const answer = await post(host, fields)
    expect(answer.status).toBe(status)
    if (status !== 200) expect(answer.body).not.toContain(HELD)
  })
})

describe('a devnet', () => {
  const MNEMONIC = 'legal winner thank year wave sausage worth useful legal winner thank yellow'
  const running = async (args: readonly string[], use: (ready: Ready) => Promise<void>): Promise<void> => {
    const node = spawnNode(['devnet', '--port', '0', ...args])
    try {
      await use(await node.ready)
    } finally {
      await node.kill()
    }
  }

  test('with well-known keys signs on its public port', async () => {
    const { accounts } = await accountsFromMnemonic(TEST_MNEMONIC, 1)
    await running(['--unlock', '--accounts', '1'], async ready => {
      expect(await rpc(ready.http, 'eth_accounts')).toEqual([accounts[0]?.address.toLowerCase()])
      expect(await rpc<Hex>(ready.http, 'eth_sign', [accounts[0]?.address, '0x1234'])).toHaveLength(132)
    })
  })

  test('with words of its own signs on its operator port', async () => {
    const { accounts } = await accountsFromMnemonic(MNEMONIC, 1)
    const from = accounts[0]?.address.toLowerCase()
    await running(['--unlock', '--accounts', '1', '--mnemonic', MNEMONIC, '--operator-port', '0'], async ready => {
      expect(await rpc(ready.http, 'eth_accounts')).toEqual([])
      await expect(rpc(ready.http, 'eth_sign', [from, '0x1234'])).rejects.toMatchObject({ message: 'unknown account' })
      expect(await rpc(ready.operator as string, 'eth_accounts')).toEqual([from])
      expect(await rpc<Hex>(ready.operator as string, 'eth_sign', [from, '0x1234'])).toHaveLength(132)
    })
  })

  test('with words of its own and no port to sign on does not start, and says what to do', async () => {
    const node = spawnNode(['devnet', '--port', '0', '--unlock', '--mnemonic', MNEMONIC])
    const outcome = await Promise.race([node.exited, node.ready.then(() => 'started')])
    await node.kill()
    expect(outcome).toBe(1)
    expect(node.stderr()).toContain('--operator-port')
  })
})
