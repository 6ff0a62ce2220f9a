import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Hex } from '@tandem/base/bytes.ts'
import { HDNodeWallet, Wallet } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { tandem } from '../support/command.ts'
import { eventually, type RunningNode, startDevnet } from '../support/devnet.ts'
import { LAUNCHER, PATIENCE_MS, ROOT } from '../support/node-process.ts'

const SINK = '0x000000000000000000000000000000000000dEaD'
const GWEI = 10n ** 9n

let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'tandem-cli-'))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** A devnet whose blocks are executed once: nothing here is about execution. */
const start = (options: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Promise<RunningNode> =>
  startDevnet([...options, '--execution', 'wasm'], env)

/** A folder for the node's own temporary folders, to see that they go. */
const ownTmp = (name: string): string => {
  const path = join(dir, name)
  mkdirSync(path)
  return path
}

const withNode = async <T>(node: RunningNode, use: (node: RunningNode) => Promise<T>): Promise<T> => {
  try {
    return await use(node)
  } finally {
    // Not killed: it takes its temporary folder with it.
    await node.stop()
  }
}

const number = async (node: RunningNode): Promise<number> => Number(await node.rpc('eth_blockNumber'))
const receipt = (node: RunningNode, hash: Hex) =>
  eventually(
    'receipt',
    () => node.rpc<{ blockNumber: Hex; status: Hex } | null>('eth_getTransactionReceipt', [hash]),
    answer => answer !== null,
  )

const signed = (node: RunningNode, index: number, nonce: number): Promise<string> =>
  new Wallet(node.accounts[index]?.privateKey as string).signTransaction({
    chainId: node.chainId,
    nonce,
    to: SINK,
    value: 1n,
    gasLimit: 21_000n,
    gasPrice: 50n * GWEI,
    type: 0,
  })
const submit = async (node: RunningNode, index: number, nonce: number): Promise<Hex> =>
  node.rpc<Hex>('eth_sendRawTransaction', [await signed(node, index, nonce)])

describe('tandem devnet', () => {
  test('prints what a person needs, and stops at Ctrl-C', async () => {
    const child = spawn(process.execPath, [LAUNCHER, 'devnet', '--port', '0'], { cwd: ROOT })
    let text = ''
    child.stdout.on('data', data => {
      text += String(data)
    })
    const exit = once(child, 'exit')
    await eventually(
      'the announcement',
      async () => text,
      seen => seen.includes('Ctrl-C stops the chain.'),
    )
    child.kill('SIGINT')
    expect(await exit).toEqual([0, null])
    expect(text).toMatch(/HTTP {8}http:\/\/127\.0\.0\.1:\d+\n/)
    expect(text).toMatch(/WebSocket {3}ws:\/\/127\.0\.0\.1:\d+\/ws\n/)
    expect(text).toContain('Chain id    1998999')
    expect(text).toContain('a block every 1 s')
    expect(text).toContain('Accounts with 10,000 tokens each')
    expect(text.match(/^ +\d {2}0x[0-9a-fA-F]{40} {2}0x[0-9a-f]{64}$/gm)).toHaveLength(10)
    expect(text).toContain('Mnemonic    test test test test test test test test test test test junk')
    expect(text).toContain('never use them on a public network')
  })

  test('the ready line names the chain, and blocks come', async () => {
    await withNode(await start(['--metrics-port', '0']), async node => {
      expect(node).toMatchObject({
        ready: true,
        chainId: 1_998_999,
        http: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      })
      expect(node.accounts).toHaveLength(10)
      expect(node.accounts[0]?.address).toBe('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266')
      expect(await node.rpc('eth_chainId')).toBe('0x1e8097')
      expect(await node.rpc('net_version')).toBe('1998999')
      const genesis = await node.rpc<{ hash: Hex }>('eth_getBlockByNumber', ['0x0', false])
      expect(genesis.hash).toBe(node.genesisHash)
      await eventually(
        'two blocks',
        () => number(node),
        head => head >= 2,
      )
      const health = await fetch(`${node.http}/health`)
      expect([health.status, await health.json()]).toEqual([200, expect.objectContaining({ healthy: true })])
      // Its index begins with the first block.
      const network = await eventually(
        'the explorer',
        () => fetch(`${node.explorer}/network`),
        ({ status }) => status !== 503,
      )
      expect([network.status, await network.json()]).toEqual([200, expect.objectContaining({ gasPriceGwei: '27.5' })])
      const metrics = await (await fetch(node.metrics ?? '')).text()
      expect(metrics).toMatch(/^chain_head_\w+ \d+$/m)
    })
  })

  test('pages of this machine may call it, others may not', async () => {
    await withNode(await start(), async ({ http }) => {
      const allowed = async (origin: string) => {
        const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] })
        const headers = { 'content-type': 'application/json', origin }
        return (await fetch(http, { method: 'POST', headers, body })).headers.get('access-control-allow-origin')
      }
      expect(await allowed('http://localhost:5173')).toBe('http://localhost:5173')
      expect(await allowed('https://app.example')).toBeNull()
    })
  })

  test('--block-time 0 makes a block at once for a transaction, and none without', async () => {
    await withNode(await start(['--block-time', '0']), async node => {
      await new Promise(resolve => setTimeout(resolve, 1_200))
      expect(await number(node)).toBe(0)
      for (let nonce = 0; nonce < 3; nonce++) {
        const included = await receipt(node, await submit(node, 0, nonce))
        expect(included).toMatchObject({ status: '0x1', blockNumber: `0x${(nonce + 1).toString(16)}` })
      }
      expect(await number(node)).toBe(3)
    })
  })

  test('--block-time takes fractions of a second', async () => {
    await withNode(await start(['--block-time', '0.2']), async node => {
      const before = { ms: performance.now(), head: await number(node) }
      await eventually(
        'ten blocks',
        () => number(node),
        head => head >= before.head + 10,
      )
      // Not before their time; how much later is a matter of the machine.
      expect(performance.now() - before.ms).toBeGreaterThan(1_500)
    })
  })

  test('--accounts, --balance, --mnemonic, --chain-id', async () => {
    const words = 'legal winner thank year wave sausage worth useful legal winner thank yellow'
    const options = ['--accounts', '3', '--balance', '1.5', '--mnemonic', words, '--chain-id', '424242']
    await withNode(await start(options), async node => {
      const wallets = [0, 1, 2].map(index => HDNodeWallet.fromPhrase(words, '', `m/44'/60'/0'/0/${index}`))
      expect(node.accounts).toEqual(wallets.map(({ address, privateKey }) => ({ address, privateKey })))
      for (const { address } of wallets)
        expect(await node.rpc('eth_getBalance', [address, 'latest'])).toBe(`0x${(15n * 10n ** 17n).toString(16)}`)
      expect(await node.rpc('eth_chainId')).toBe('0x67932')
    })
  })

  test('--unlock lets the node sign; without it no account is known', async () => {
    const send = (node: RunningNode) =>
      node.rpc<Hex>('eth_sendTransaction', [{ from: node.accounts[0]?.address, to: SINK, value: '0x1' }])
    await withNode(await start(['--block-time', '0', '--unlock']), async node => {
      const accounts = await node.rpc<Hex[]>('eth_accounts')
      expect(accounts).toEqual(node.accounts.map(({ address }) => address.toLowerCase()))
      expect(await receipt(node, await send(node))).toMatchObject({ status: '0x1' })
    })
    await withNode(await start(['--block-time', '0']), async node => {
      expect(await node.rpc('eth_accounts')).toEqual([])
      await expect(send(node)).rejects.toMatchObject({ rpcCode: -32000, message: 'unknown account' })
    })
  })

  test('--http-api closes namespaces', async () => {
    await withNode(await start(['--http-api', 'eth, net']), async node => {
      expect(await node.rpc('net_version')).toBe('1998999')
      await expect(node.rpc('web3_clientVersion')).rejects.toMatchObject({
        rpcCode: -32601,
        message: 'the method web3_clientVersion does not exist/is not available',
      })
    })
  })
})

describe('a kept folder', () => {
  test('holds chain and accepted transactions over a stop and over a crash', async () => {
    const datadir = join(dir, 'kept')
    const options = ['--datadir', datadir, '--block-time', '0.2']
    const first = await start(options)
    const included = await submit(first, 0, 0)
    const { blockNumber } = await receipt(first, included).then(answer => answer ?? expect.unreachable())
    const block = await first.rpc<{ hash: Hex }>('eth_getBlockByNumber', [blockNumber, false])
    // Accepted, but its predecessor is missing: it must wait.
    const waiting = await submit(first, 1, 1)
    await first.stop()

    const second = await start(options)
    expect(second.genesisHash).toBe(first.genesisHash)
    expect(await second.rpc('eth_getBlockByNumber', [blockNumber, false])).toMatchObject({ hash: block.hash })
    expect(await second.rpc('eth_getTransactionByHash', [waiting])).toMatchObject({ hash: waiting, blockNumber: null })
    const later = await submit(second, 2, 1)
    const head = await number(second)
    await second.kill()

    const third = await start(options)
    await withNode(third, async node => {
      expect(await number(node)).toBeGreaterThanOrEqual(head)
      for (const hash of [waiting, later])
        expect(await node.rpc('eth_getTransactionByHash', [hash])).toMatchObject({ hash, blockNumber: null })
      await submit(node, 1, 0)
      await submit(node, 2, 0)
      expect(await receipt(node, waiting)).toMatchObject({ status: '0x1' })
      expect(await receipt(node, later)).toMatchObject({ status: '0x1' })
    })
  })

  test('is not opened twice, nor for another chain', async () => {
    const datadir = join(dir, 'locked')
    await withNode(await start(['--datadir', datadir]), async node => {
      const second = await tandem(['devnet', '--port', '0', '--datadir', datadir])
      expect(second.code).toBe(1)
      expect(second.stderr).toMatch(/^tandem: .*locked.* is in use by process \d+\. Stop that node, or choose/m)
      expect(second.stderr).toContain(` process ${node.process.pid}.`)
      expect(second.stdout).toBe('')
    })
    const other = await tandem(['devnet', '--port', '0', '--datadir', datadir, '--chain-id', '7'])
    expect(other.code).toBe(1)
    expect(other.stderr).toMatch(/holds a chain with genesis 0x[0-9a-f]{64}, the options given make genesis 0x/)
  })

  test('db verify checks it, once the node has stopped', async () => {
    const datadir = join(dir, 'verified')
    const node = await start(['--datadir', datadir, '--block-time', '0'])
    for (let nonce = 0; nonce < 3; nonce++) await receipt(node, await submit(node, 0, nonce))
    const busy = await tandem(['db', 'verify', '--datadir', datadir])
    expect([busy.code, busy.stderr]).toEqual([1, expect.stringContaining(`in use by process ${node.process.pid}.`)])
    await node.stop()
    const text = await tandem(['db', 'verify', '--datadir', datadir])
    expect([text.code, text.stdout]).toEqual([
      0,
      expect.stringMatching(/^consistent: head 3 0x[0-9a-f]{64}, 4 blocks, 3 transactions, \d+ accounts\n$/),
    ])
    const json = await tandem(['db', 'verify', '--datadir', datadir, '--json', '--from', '2'])
    expect(JSON.parse(json.stdout)).toMatchObject({ ok: true, head: 3, problems: [] })
    const empty = await tandem(['db', 'verify', '--datadir', join(dir, 'nothing')])
    expect([empty.code, empty.stderr]).toEqual([1, expect.stringMatching(/nothing holds no chain\./)])
  })
})

describe('the end', () => {
  test('the folder of a chain that was killed goes when the next one starts', async () => {
    const tmp = ownTmp('killed')
    const killed = await start([], { TMPDIR: tmp })
    await killed.kill()
    const [left = ''] = readdirSync(tmp)
    expect(left).toMatch(/^tandem-devnet-/)
    // Young folders are spared: their chain may be about to open its store where its process cannot be seen.
    utimesSync(join(tmp, left), 1, 1)
    const next = await start([], { TMPDIR: tmp })
    const folders = await eventually(
      'one folder',
      async () => readdirSync(tmp),
      names => names.length === 1,
    )
    expect(folders).not.toEqual([left])
    await next.stop()
    expect(readdirSync(tmp)).toEqual([])
  })

  test.each(['SIGINT', 'SIGTERM'] as const)(
    '%s with connections open ends the node and removes the temporary folder',
    async stopSignal => {
      const tmp = ownTmp(stopSignal)
      const node = await start(['--block-time', '0.2'], { TMPDIR: tmp })
      expect(readdirSync(tmp)).toEqual([expect.stringMatching(/^tandem-devnet-/)])
      const sockets = await Promise.all(
        [1, 2, 3].map(async id => {
          const socket = new WebSocket(node.ws)
          await once(socket, 'open')
          socket.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'eth_subscribe', params: ['newHeads'] }))
          await once(socket, 'message')
          return socket
        }),
      )
      const closed = Promise.all(sockets.map(socket => once(socket, 'close').then(([code]) => code as number)))
      // A keep-alive connection and a request whose body never ends.
      await fetch(node.http)
      const controller = new AbortController()
      const headers = { 'content-type': 'application/json' }
      const endless = new ReadableStream({ start: control => control.enqueue(new TextEncoder().encode('{')) })
      const hanging = fetch(node.http, {
        method: 'POST',
        headers,
        body: endless,
        signal: controller.signal,
        duplex: 'half',
      } as RequestInit).catch(() => 'cut')
      const { code } = await node.stop(stopSignal)
      controller.abort()
      expect(code).toBe(0)
      expect(await closed).toEqual([1001, 1001, 1001])
      expect(await hanging).toBe('cut')
      expect(node.output()).not.toMatch(/"level":"(warn|error)"/)
      expect(readdirSync(tmp)).toEqual([])
    },
  )

  test.each([0, 120])('Ctrl-C while it still starts (%d ms on) leaves nothing behind', async laterMs => {
    const tmp = ownTmp(`early-${laterMs}`)
    const child = spawn(process.execPath, [LAUNCHER, 'devnet', '--port', '0', '--json'], {
      cwd: ROOT,
      env: { ...process.env, TMPDIR: tmp },
    })
    await eventually(
      'its folder',
      async () => readdirSync(tmp),
      entries => entries.length > 0,
    )
    let said = ''
    child.stderr.on('data', data => {
      said += String(data)
    })
    child.stdout.resume()
    await new Promise(resolve => setTimeout(resolve, laterMs))
    child.kill('SIGINT')
    expect(await once(child, 'close')).toEqual([0, null])
    expect(readdirSync(tmp)).toEqual([])
    expect(said).not.toMatch(/error/i)
  })
})

describe('what cannot be', () => {
  test('an end is an end although nobody reads what the process says', async () => {
    const args = [LAUNCHER, 'devnet', '--port', '0', '--json']
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    // The ready line fails, and so does the line about that.
    child.stdout.destroy()
    child.stderr.destroy()
    const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS)
    expect(await once(child, 'exit')).toEqual([1, null])
    clearTimeout(timer)
  })

  test('a port in use is named, and no folder stays', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const tmp = ownTmp('port')
    const result = await tandem(['devnet', '--port', String(port)], { env: { TMPDIR: tmp } })
    expect(result.code).toBe(1)
    expect(result.stderr).toMatch(
      new RegExp(
        `^tandem: Port ${port} is in use\\. Stop the other program, or choose another --port: \\d+ is free, 0 picks a free one\\.\n$`,
      ),
    )
    expect(readdirSync(tmp)).toEqual([])
    server.close()
  })

  test.each([
    [['devnet', '--block-time', 'soon'], /--block-time.*'soon' is invalid\. It must be seconds from 0 to 3600/],
    [['devnet', '--block-time', '0.01'], /The shortest block time is 0\.05 s/],
    [['devnet', '--accounts', '0'], /--accounts.*whole number from 1 to 1000/],
    [['devnet', '--balance', '-1'], /--balance.*decimal number of tokens/],
    [['devnet', '--mnemonic', 'one two three'], /mnemonic is not a valid English BIP-39 mnemonic/],
    [['devnet', '--port', '65536'], /--port.*whole number from 0 to 65535/],
    [['devnet', '--http-api', 'eth,foo'], /--http-api.*"foo" is no namespace\. There are eth, net, rpc, native/],
    [['devnet', '--execution', 'quick'], /Allowed choices are wasm, ethereumjs, shadow/],
    [['devnet', '--colour'], /unknown option '--colour'/],
    [['devnet', 'now'], /too many arguments for 'devnet'/],
    [['devnet', '--host', '203.0.113.1', '--port', '0'], /This machine has no address 203\.0\.113\.1/],
    [['devnet', '--datadir', '/dev/null/chain', '--port', '0'], /\/dev\/null\/chain cannot be used/],
    [['start'], /required option '--network <name>' not specified/],
    [['start', '--network', 'moon', '--datadir', 'x'], /Allowed choices are mainnet, testnet, devnet/],
    [['start', '--network', 'mainnet', '--datadir', 'x'], /--network mainnet needs --genesis FILE: its first council/],
    [['start', '--network', 'devnet', '--datadir', 'x'], /use "tandem devnet"/],
    [
      ['start', '--network', 'testnet', '--datadir', 'x', '--genesis', 'no.json'],
      /no\.json cannot be read: no such file/,
    ],
    [['db', 'verify'], /required option '--datadir <folder>' not specified/],
    [['db', 'verify', '--datadir', 'x', '--from', 'y'], /--from.*whole number/],
    [['moon'], /unknown command 'moon'/],
  ])('tandem %j ends with a clear line', async (args, expected) => {
    const { code, stdout, stderr } = await tandem(args, { cwd: dir })
    expect([1, 2]).toContain(code)
    expect(stderr).toMatch(/^tandem: /)
    expect(stderr).toMatch(expected)
    expect(stderr).not.toMatch(/\n {4}at /)
    expect(stderr.split('\n').length).toBeLessThanOrEqual(4)
    expect(stdout).toBe('')
    expect(existsSync(join(dir, 'x'))).toBe(false)
  })

  test.each([
    [[], ['devnet', 'localnet', 'start', 'db']],
    [
      ['devnet'],
      ['--block-time', '--accounts', '--balance', '--mnemonic', '--datadir', '--port', '--json', 'Examples:'],
    ],
    [['start'], ['--network', '--genesis', '--datadir', '--validator-key', '--operator-port', 'Examples:']],
    [
      ['localnet'],
      ['--validators', '--full', '--datadir', '--chaos', '--seed', '--until-block', '--json', 'Examples:'],
    ],
    [['db'], ['verify']],
    [
      ['db', 'verify'],
      ['--datadir', '--from', '--json'],
    ],
  ])('tandem %j --help tells every option', async (command, words) => {
    const { code, stdout, stderr } = await tandem([...command, '--help'])
    expect([code, stderr]).toEqual([0, ''])
    for (const word of words) expect(stdout).toContain(word)
    expect(stdout).not.toContain('default: false')
    expect(stdout.split('\n').every(line => line.length <= 120)).toBe(true)
  })
})
