import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Hex } from '@tandem/base/bytes.ts'
import { encryptKeystoreJsonSync, Wallet } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { tandem } from '../support/command.ts'
import { eventually, type RunningNode, rpc, startDevnet, startNode } from '../support/devnet.ts'

/*
 * Methods that each network's endpoints serve and refuse (docs/interface.md#transport, docs/interface.md#errors, docs/design/networks.md#parameters), asked of real nodes that start from a genesis
 * file. Result schemas of all methods are held by test/unit/rpc and by the public OpenRPC document.
 */

const TOKEN = 10n ** 18n
const GWEI = 10n ** 9n
const validator = new Wallet('0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d')
const payer = new Wallet('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80')
const NOBODY = '0x00000000000000000000000000000000000abcde'

type Network = 'mainnet' | 'testnet'
const genesisOf = (network: Network) => ({
  format: 'tandem/1',
  network,
  timestamp: 1_735_689_600,
  council: [
    { name: 'one', validator: validator.address, reward: validator.address, stake: String(35_000_000n * TOKEN) },
  ],
  foundation: validator.address,
  alloc: { [payer.address]: { balance: String(100n * TOKEN) } },
})

let dir: string
const file = (name: string, content: string): string => {
  const path = join(dir, name)
  writeFileSync(path, content)
  return path
}
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'tandem-networks-'))
  file('validator.key', `${validator.privateKey.slice(2)}\n`)
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const startNetwork = (network: Network, name: string, options: readonly string[]): Promise<RunningNode> => {
  const genesis = file(`${network}.json`, JSON.stringify(genesisOf(network)))
  const where = ['--network', network, '--genesis', genesis, '--datadir', join(dir, `${network}-${name}`)]
  return startNode(['start', ...where, '--port', '0', '--operator-port', '0', ...options])
}

const notServed = (method: string) => ({
  rpcCode: -32601,
  message: `the method ${method} does not exist/is not available`,
})

/** One call on a socket of its own. */
const overSocket = async <T>(url: string, method: string, params: readonly unknown[] = []): Promise<T> => {
  const socket = new WebSocket(url)
  try {
    await once(socket, 'open')
    const answered = once(socket, 'message')
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
    const [data] = await answered
    const answer = JSON.parse(String(data)) as { result: T; error?: { code: number; message: string } }
    if (answer.error) throw Object.assign(new Error(answer.error.message), { rpcCode: answer.error.code })
    return answer.result
  } finally {
    socket.close()
  }
}

/** How a WebSocket handshake is answered when it is not accepted. */
const handshake = async (url: string): Promise<{ status: number | undefined; location: string | undefined }> => {
  const socket = new WebSocket(url, { followRedirects: false })
  socket.on('error', () => socket.terminate())
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage]
  response.resume()
  socket.terminate()
  return { status: response.statusCode, location: response.headers.location }
}

const httpGet = async (url: string): Promise<{ status: number | undefined; location: string | undefined }> => {
  const [response] = (await once(get(url), 'response')) as [IncomingMessage]
  response.resume()
  return { status: response.statusCode, location: response.headers.location }
}

const cases = [
  {
    network: 'mainnet',
    chainId: 20_250_217,
    http: ['eth', 'native', 'net', 'rpc'],
    ws: ['eth', 'native', 'net', 'rpc'],
    wsPath: '/ws',
  },
  {
    network: 'testnet',
    chainId: 1_998_991,
    http: ['debug', 'eth', 'native', 'net', 'rpc'],
    ws: ['eth', 'net', 'rpc', 'web3'],
    wsPath: '/ws/',
  },
] as const

describe.each(cases)('$network', ({ network, chainId, http, ws, wsPath }) => {
  let node: RunningNode
  beforeAll(async () => {
    node = await startNetwork(network, 'validator', ['--validator-key', join(dir, 'validator.key')])
    await eventually(
      'a block',
      () => node.rpc<Hex>('eth_blockNumber'),
      head => Number(head) > 0,
    )
  })
  afterAll(async () => {
    await node?.kill()
  })

  test('is known by its chain id', async () => {
    expect(node.chainId).toBe(chainId)
    expect(await node.rpc('eth_chainId')).toBe(`0x${chainId.toString(16)}`)
    expect(await node.rpc('net_version')).toBe(String(chainId))
    expect(await overSocket(node.ws, 'eth_chainId')).toBe(`0x${chainId.toString(16)}`)
    expect(await node.rpc('native_getChainConfig')).toMatchObject({ chainId, blockTime: 1 })
  })

  test('serves its namespaces per transport, version 1.0 each, and no other', async () => {
    const versions = (names: readonly string[]) => Object.fromEntries(names.map(name => [name, '1.0']))
    expect(await node.rpc('rpc_modules')).toEqual(versions(http))
    expect(await overSocket(node.ws, 'rpc_modules')).toEqual(versions(ws))
    const probes = { debug: 'debug_getRawHeader', native: 'native_blockNumber', web3: 'web3_clientVersion' }
    for (const [namespace, method] of Object.entries(probes)) {
      const params = namespace === 'debug' ? ['latest'] : []
      for (const [names, ask] of [
        [http, () => node.rpc(method, params)],
        [ws, () => overSocket(node.ws, method, params)],
      ] as const) {
        if ((names as readonly string[]).includes(namespace)) expect(await ask()).toMatch(/./)
        else await expect(ask()).rejects.toMatchObject(notServed(method))
      }
    }
    for (const method of [
      'eth_protocolVersion',
      'web3_sha3',
      'personal_listAccounts',
      'admin_peers',
      'txpool_status',
      'miner_start',
    ])
      await expect(node.rpc(method)).rejects.toMatchObject(notServed(method))
  })

  test('the operator port serves what the public one does not', async () => {
    const operator = node.operator as string
    expect(operator).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect(await rpc(operator, 'txpool_status')).toEqual({ pending: '0x0', queued: '0x0' })
    expect(await rpc(operator, 'web3_clientVersion')).toMatch(/^tandem\//)
    expect(await rpc(operator, 'debug_getRawHeader', ['latest'])).toMatch(/^0xf9/)
  })

  test(`upgrades to a WebSocket at ${wsPath}`, async () => {
    const base = node.http.replace('http', 'ws')
    expect(node.ws).toBe(`${base}${wsPath}`)
    const subscribed = await overSocket<Hex>(node.ws, 'eth_subscribe', ['newHeads'])
    expect(subscribed).toMatch(/^0x[0-9a-f]+$/)
    if (network === 'testnet') {
      expect(await handshake(`${base}/ws`)).toEqual({ status: 301, location: '/ws/' })
      expect(await httpGet(`${node.http}/ws`)).toEqual({ status: 301, location: '/ws/' })
      // A client that follows redirects arrives.
      const socket = new WebSocket(`${base}/ws`, { followRedirects: true })
      await once(socket, 'open')
      socket.close()
    }
    expect(await handshake(`${base}/elsewhere`)).toMatchObject({ status: 404 })
    expect(await httpGet(`${node.http}${wsPath}`)).toMatchObject({ status: 426 })
  })

  test('answers other HTTP with a clear status', async () => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] })
    const status = async (path: string, init: RequestInit) => (await fetch(`${node.http}${path}`, init)).status
    expect(await status('/', { method: 'POST', body })).toBe(415)
    expect(await status('/', { method: 'PUT', body })).toBe(405)
    expect(await status('/', { method: 'GET' })).toBe(200)
    expect(await status('/elsewhere', { method: 'GET' })).toBe(404)
    expect(await status('/health', { method: 'GET' })).toBe(200)
  })

  test('keeps prices within 25 and 750 gwei', async () => {
    expect(await node.rpc('native_lowerBoundGasPrice')).toBe('0x5d21dba00')
    expect(await node.rpc('native_upperBoundGasPrice')).toBe('0xae9f7bcc00')
    expect(await node.rpc('eth_gasPrice')).toBe('0x66720b300')
    expect(await node.rpc('native_gasPrice')).toBe('0x66720b300')
    expect(await node.rpc('eth_maxPriorityFeePerGas')).toBe('0x0')
    const send = async (nonce: number, gasPrice: bigint): Promise<Hex> => {
      const transaction = { chainId, nonce, to: NOBODY, value: 1n, gasLimit: 21_000n, gasPrice, type: 0 }
      return node.rpc<Hex>('eth_sendRawTransaction', [await payer.signTransaction(transaction)])
    }
    await expect(send(0, 25n * GWEI - 1n)).rejects.toMatchObject({
      rpcCode: -32000,
      message: expect.stringMatching(/underpriced.*25000000000/),
    })
    const hashes = [await send(0, 25n * GWEI), await send(1, 800n * GWEI)]
    const receipts = await Promise.all(
      hashes.map(hash =>
        eventually('receipt', () => node.rpc<Record<string, Hex> | null>('eth_getTransactionReceipt', [hash]), Boolean),
      ),
    )
    expect(receipts.map(receipt => BigInt(receipt?.['effectiveGasPrice'] ?? 0))).toEqual([25n * GWEI, 800n * GWEI])
    await expect(send(0, 30n * GWEI)).rejects.toMatchObject({ rpcCode: -32000, message: 'nonce too low' })
  })

  test('holds no keys', async () => {
    expect(await node.rpc('eth_accounts')).toEqual([])
    expect(await node.rpc('eth_coinbase')).toBe(validator.address.toLowerCase())
    const unknown = { rpcCode: -32000, message: 'unknown account' }
    const call = { from: payer.address, to: NOBODY, value: '0x0', gas: '0x5208', gasPrice: '0x6fc23ac00', nonce: '0x0' }
    await expect(node.rpc('eth_sign', [payer.address, '0x00'])).rejects.toMatchObject(unknown)
    await expect(node.rpc('eth_signTransaction', [call])).rejects.toMatchObject(unknown)
    await expect(node.rpc('eth_sendTransaction', [call])).rejects.toMatchObject(unknown)
    const { gasPrice: _, ...feeless } = call
    await expect(node.rpc('eth_signTransaction', [feeless])).rejects.toMatchObject({
      rpcCode: -32000,
      message: 'missing gasPrice or maxFeePerGas/maxPriorityFeePerGas',
    })
  })

  test('refuses with the texts that clients match', async () => {
    const tagged = (position: number) => ({
      rpcCode: -32602,
      message: `invalid argument ${position}: hex string without 0x prefix`,
    })
    for (const tag of ['safe', 'finalized']) {
      await expect(node.rpc('eth_getBlockByNumber', [tag, false])).rejects.toMatchObject(tagged(1))
      await expect(node.rpc('eth_getBalance', [NOBODY, tag])).rejects.toMatchObject(tagged(2))
      await expect(node.rpc('eth_getStorageAt', [NOBODY, '0x0', tag])).rejects.toMatchObject(tagged(3))
    }
    await expect(node.rpc('eth_getBalance', [NOBODY])).rejects.toMatchObject({
      rpcCode: -32602,
      message: 'missing value for required argument 2',
    })
    await expect(
      node.rpc('eth_estimateGas', [{ from: NOBODY, to: payer.address, value: '0xde0b6b3a7640000' }]),
    ).rejects.toMatchObject({
      rpcCode: -32000,
      message: expect.stringMatching(/^err: insufficient balance for transfer/),
    })
  })

  test('tells its council and committee, and who proposed', async () => {
    const member = validator.address.toLowerCase()
    expect(await node.rpc('native_getCouncil')).toEqual([member])
    expect(await node.rpc('native_getCommittee')).toEqual([member])
    expect(await node.rpc('native_getBlockWithConsensusInfo', ['latest', false])).toMatchObject({
      proposer: member,
      gasLimit: '0xe8d4a50fff',
      difficulty: '0x1',
      consensus: { round: 0, commitMsgNum: 1, prepareMsgNum: 1, validators: [member] },
    })
  })
})

describe('the command that starts a network', () => {
  test('without a validator key it follows, and serves the genesis block', async () => {
    const node = await startNetwork('mainnet', 'follower', [])
    try {
      expect(await node.rpc('eth_blockNumber')).toBe('0x0')
      expect(await node.rpc('eth_getBalance', [payer.address, 'latest'])).toBe(`0x${(100n * TOKEN).toString(16)}`)
    } finally {
      await node.kill()
    }
  })

  test('with the key of no member yet it follows as well', async () => {
    const node = await startNetwork('mainnet', 'newcomer', ['--validator-key', file('new.key', payer.privateKey)])
    try {
      expect(await node.rpc('native_getCouncil')).toEqual([validator.address.toLowerCase()])
      expect(await node.rpc('eth_blockNumber')).toBe('0x0')
    } finally {
      await node.kill()
    }
  })

  test("opens the validator's encrypted key with its password", async () => {
    const keystore = file(
      'keystore.json',
      encryptKeystoreJsonSync(validator, 'open sesame', { scrypt: { N: 1 << 12 } }),
    )
    const options = ['--validator-key', keystore, '--password-file', file('password', 'open sesame\n')]
    const node = await startNetwork('mainnet', 'keystore', options)
    try {
      await eventually(
        'a block',
        () => node.rpc<Hex>('eth_blockNumber'),
        head => Number(head) > 0,
      )
    } finally {
      await node.kill()
    }
  })

  test.each([
    ['a genesis of another network', { ...genesisOf('testnet') }, /is a genesis of testnet, not of mainnet/],
    ['an unknown member', { ...genesisOf('mainnet'), colour: 1 }, /colour: unknown member; known here:/],
    ['another chain id', { ...genesisOf('mainnet'), chainId: 5 }, /chainId: the chain id of mainnet is 20250217/],
    ['no council', { ...genesisOf('mainnet'), council: [] }, /council: want at least one validator/],
    ["geth's format", { config: { chainId: 1 }, gasLimit: '0x1', alloc: {} }, /names no council/],
  ])('%s is refused in one line', async (_, genesis, expected) => {
    const path = file('wrong.json', JSON.stringify(genesis))
    const result = await tandem(['start', '--network', 'mainnet', '--genesis', path, '--datadir', join(dir, 'wrong')])
    expect([result.code, result.stdout]).toEqual([1, ''])
    expect(result.stderr).toMatch(expected)
    expect(result.stderr.trim().split('\n')).toHaveLength(1)
  })

  test.each([
    ['that is none', 'secret', /is neither a keystore \(JSON\) nor a key of 64 hex digits/],
    [
      'that is encrypted, without its password',
      '{"version":3}',
      /is encrypted: give its password with --password-file/,
    ],
  ])('a validator key %s is refused', async (_, key, expected) => {
    const paths = [file('mainnet.json', JSON.stringify(genesisOf('mainnet'))), file('wrong.key', key)] as const
    const where = ['--network', 'mainnet', '--genesis', paths[0], '--datadir', join(dir, 'wrong')]
    const result = await tandem(['start', ...where, '--validator-key', paths[1]])
    expect([result.code, result.stdout]).toEqual([1, ''])
    expect(result.stderr).toMatch(expected)
  })
})

describe('devnet', () => {
  test('serves every namespace on both transports, and every path', async () => {
    const node = await startDevnet()
    try {
      const names = expect.arrayContaining(['debug', 'eth', 'native', 'net', 'rpc', 'txpool', 'web3'])
      expect(Object.keys(await node.rpc<object>('rpc_modules'))).toEqual(names)
      const base = node.http.replace('http', 'ws')
      for (const path of ['/ws', '/ws/'])
        expect(Object.keys(await overSocket<object>(`${base}${path}`, 'rpc_modules'))).toEqual(names)
      expect(await node.rpc('txpool_status')).toEqual({ pending: '0x0', queued: '0x0' })
      expect(await node.rpc('eth_accounts')).toEqual([])
    } finally {
      await node.stop()
    }
  })
})
