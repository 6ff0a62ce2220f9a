import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createRandom } from '@tandem/base/random.ts'
import { BrowserProvider, parseEther } from 'ethers'
import { createPublicClient, createWalletClient, custom, getAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { CHAIN_LIMITS } from '../../../src/config/limits/chain.ts'
import { createDevnet } from '../../../src/devnet/create-devnet.ts'
import type { CreateDevnetOptions, Devnet } from '../../../src/devnet/types.ts'
import { seedRange } from '../../support/seed.ts'

const open = async (options?: CreateDevnetOptions): Promise<Devnet> => {
  const chain = await createDevnet(options)
  onTestFinished(() => chain.close())
  return chain
}
const ask = (chain: Devnet, method: string, ...params: unknown[]): Promise<unknown> =>
  chain.provider.request({ method, params })
const send = (chain: Devnet, from: number, to: number, wei: bigint): Promise<unknown> => {
  const [sender, receiver] = [chain.accounts[from], chain.accounts[to]]
  const value = `0x${wei.toString(16)}`
  return ask(chain, 'eth_sendTransaction', { from: sender?.address, to: receiver?.address, value })
}
const folders = (): readonly string[] =>
  readdirSync(tmpdir()).filter(name => name.startsWith(`tandem-devnet-${process.pid}-`))

/** Creation code of a contract that logs one topic. */
const LOGGER: `0x${string}` = `0x6027600c60003960276000f37f${'ff'.repeat(32)}60006000a100`

describe('a chain in this process', () => {
  test('makes a block for each transaction, signs for its accounts, and needs neither port, folder nor thread', async () => {
    const chain = await open()
    expect(await ask(chain, 'eth_accounts')).toEqual(chain.accounts.map(({ address }) => address.toLowerCase()))
    const hash = await send(chain, 0, 1, 5n)
    expect(await ask(chain, 'eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1', blockNumber: '0x1' })
    expect(await ask(chain, 'eth_call', { to: chain.accounts[1]?.address, data: '0x' }, 'latest')).toBe('0x')
    // More blocks than may wait for the log index, whose thread would move the rows to a folder.
    await chain.mine(CHAIN_LIMITS.logIndexWait * 2)
    await send(chain, 0, 1, 5n)
    expect(folders()).toEqual([])
    expect(process.getActiveResourcesInfo()).not.toContain('TCPServerWrap')
  })

  test('mines, takes snapshots and returns to them, once each', async () => {
    const chain = await open({ accounts: 2, balance: 100n * 10n ** 18n })
    const id = await chain.snapshot()
    await chain.mine(3, 60)
    const [first, third] = await Promise.all(['0x1', '0x3'].map(at => ask(chain, 'eth_getBlockByNumber', at, false)))
    const at = (block: unknown): number => Number((block as { timestamp: string }).timestamp)
    expect(at(third) - at(first)).toBe(120)
    await chain.revert(id)
    expect(await ask(chain, 'eth_blockNumber')).toBe('0x0')
    await expect(chain.revert(id)).rejects.toThrow('no snapshot')
  })

  test('sends subscriptions as messages of EIP-1193, after the id of each, and none after eth_unsubscribe', async () => {
    const chain = await open()
    const messages: unknown[] = []
    chain.provider.on('message', message => messages.push(message))
    const id = await ask(chain, 'eth_subscribe', 'newHeads')
    await chain.mine(2)
    const data = (number: string) => ({ subscription: id, result: expect.objectContaining({ number }) })
    await expect
      .poll(() => messages)
      .toEqual(['0x1', '0x2'].map(number => ({ type: 'eth_subscription', data: data(number) })))
    expect(await ask(chain, 'eth_unsubscribe', id)).toBe(true)
    await chain.mine()
    expect(messages.length).toBe(2)
  })

  test('says connect at first, and disconnect at the end, after which requests fail with 4900', async () => {
    const chain = await createDevnet({ chainId: 4242 })
    expect(await once(chain.provider, 'connect')).toEqual([{ chainId: '0x1092' }])
    const disconnected = once(chain.provider, 'disconnect')
    await chain.close()
    expect(await disconnected).toMatchObject([{ code: 4900 }])
    await expect(ask(chain, 'eth_blockNumber')).rejects.toMatchObject({ name: 'ProviderRpcError', code: 4900 })
    await chain.close()
  })

  test('fails with the code, message and data of the JSON-RPC error', async () => {
    const chain = await open()
    await expect(ask(chain, 'eth_nothing')).rejects.toMatchObject({ name: 'ProviderRpcError', code: -32601 })
    await expect(ask(chain, 'eth_getBalance', 'nobody')).rejects.toMatchObject({ code: -32602 })
    await expect(ask(chain, 'eth_call', { data: '0x60fd60005260206000fd' }, 'latest')).rejects.toMatchObject({
      code: 3,
      data: `0x${'fd'.padStart(64, '0')}`,
    })
    expect(await ask(chain, 'eth_blockNumber')).toBe('0x0')
  })

  test('traces and searches logs over many blocks in threads, over a folder that goes with the chain', async () => {
    const chain = await open()
    const hash = await send(chain, 0, 1, 1n)
    expect(await ask(chain, 'debug_traceTransaction', hash, { tracer: 'callTracer' })).toMatchObject({ type: 'CALL' })
    await chain.mine(300)
    const { address } = chain.accounts[0] ?? {}
    expect(await ask(chain, 'eth_getLogs', { fromBlock: '0x0', toBlock: 'latest', address })).toEqual([])
    expect(folders().length).toBe(1)
    await chain.close()
    expect(folders()).toEqual([])
  })

  test('listens where it is told to, with the chain that this process sees', async () => {
    const chain = await open()
    await send(chain, 0, 1, 1n)
    const { http, ws } = await chain.listen()
    const response = await fetch(http, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber"}',
    })
    expect(await response.json()).toMatchObject({ result: '0x1' })
    expect(ws).toMatch(/^ws:\/\/127\.0\.0\.1:\d+/)
    await chain.close()
    await expect(fetch(http)).rejects.toThrow()
  })

  test('listens at another port when one is taken, at one at most, and at none once it is closed', async () => {
    const [chain, other] = [await open(), await open()]
    const { http } = await chain.listen()
    const port = Number(new URL(http).port)
    await expect(other.listen({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
    expect((await other.listen()).http).not.toBe(http)
    expect((await chain.listen({ port })).http).toBe(http)
    await expect(chain.listen({ port: port + 1 })).rejects.toThrow('one port')
    const closed = await open()
    const listening = closed.listen()
    await closed.close()
    const left = await listening.catch(() => undefined)
    if (left !== undefined) await expect(fetch(left.http)).rejects.toThrow()
    await expect(closed.listen()).rejects.toMatchObject({ code: 4900 })
    expect(process.getActiveResourcesInfo().filter(name => name === 'TCPServerWrap').length).toBe(2)
  })

  test.each([31337n, 4_503_599_627_370_476, '5'] as unknown[] as number[])(
    'names the option of the chain id %s, which is none',
    chainId => expect(createDevnet({ chainId })).rejects.toThrow('chainId'),
  )

  test('signs legacy transactions on the chain of the largest id', async () => {
    const chain = await open({ chainId: 4_503_599_627_370_475 })
    const hash = await send(chain, 0, 1, 5n)
    expect(await ask(chain, 'eth_getTransactionByHash', hash)).toMatchObject({
      type: '0x0',
      chainId: '0xfffffffffffeb',
    })
  })

  test('leaves an error of a listener to the process, and goes on', async () => {
    const script = join(mkdtempSync(join(tmpdir(), 'tandem-test-')), 'listener.ts')
    onTestFinished(() => rmSync(dirname(script), { recursive: true }))
    writeFileSync(
      script,
      `import { createDevnet } from ${JSON.stringify(fileURLToPath(new URL('../../../src/devnet/create-devnet.ts', import.meta.url)))}
const told: string[] = []
process.on('uncaughtException', error => told.push(error.message))
const chain = await createDevnet()
const fail = (event: string) => chain.provider.once(event, () => { throw new Error(event) })
fail('message')
fail('disconnect')
for (const name of ['newHeads', 'newHeads']) await chain.provider.request({ method: 'eth_subscribe', params: [name] })
chain.provider.on('message', () => told.push('next'))
await chain.mine()
await chain.close()
setImmediate(() => console.log(told.sort().join()))
`,
    )
    const { stdout, stderr } = spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', script], {
      encoding: 'utf8',
    })
    expect([stdout, stderr]).toEqual(['disconnect,message,next\n', ''])
  })

  test('removes the folders of chains whose processes ended without close', async () => {
    const root = mkdtempSync(join(tmpdir(), 'tandem-test-'))
    onTestFinished(() => rmSync(root, { recursive: true }))
    const script = join(root, 'left.ts')
    const source = fileURLToPath(new URL('../../../src/devnet/create-devnet.ts', import.meta.url))
    writeFileSync(
      script,
      `const { createDevnet } = await import(${JSON.stringify(source)})
const chain = await createDevnet()
await chain.provider.request({ method: 'debug_traceCall', params: [{}, 'latest', {}] })
`,
    )
    const env = { ...process.env, TMPDIR: root }
    spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', script], { env })
    const left = readdirSync(root).filter(name => name.startsWith('tandem-devnet-'))
    expect(left.length).toBe(1)
    const hourAgo = new Date(Date.now() - 3_600_000)
    utimesSync(join(root, left[0] as string), hourAgo, hourAgo)
    spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', script], { env })
    expect(readdirSync(root)).not.toContain(left[0])
  })

  test('fails with 4900 what is under way when it is closed', async () => {
    const chain = await open()
    const sent = Array.from({ length: 50 }, (_, index) => send(chain, index % 10, 1, 1n))
    const calls = sent.map(() => ask(chain, 'eth_call', { to: chain.accounts[1]?.address }, 'latest'))
    const settled = Promise.allSettled([...sent, ...calls])
    await chain.close()
    for (const one of await settled) if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 4900 })
    await expect(chain.mine()).rejects.toMatchObject({ code: 4900 })
  })

  test('answers as many requests at once as a suite has, and none of them once it is closed', async () => {
    const chain = await open()
    const ask = (method: string, ...params: unknown[]) =>
      Array.from({ length: 1_200 }, () => chain.provider.request({ method, params }))
    await Promise.all([...ask('eth_call', { data: '0x00' }, 'latest'), ...ask('eth_getLogs', { fromBlock: '0x0' })])
    const late = Promise.allSettled(ask('eth_call', { data: '0x00' }, 'latest'))
    await chain.close()
    expect((await late).at(-1)).toMatchObject({ status: 'rejected', reason: { code: 4900 } })
  })

  test('opens no port that would sign for everybody with keys of a mnemonic of its own', async () => {
    const mnemonic = 'legal winner thank year wave sausage worth useful legal winner thank yellow'
    const chain = await open({ mnemonic })
    await send(chain, 0, 1, 1n)
    await expect(chain.listen()).rejects.toThrow('unlock: false')
    const locked = await open({ mnemonic, unlock: false })
    await locked.listen()
    expect(await ask(locked, 'eth_accounts')).toEqual([])
  })

  test('ends with the failure when its folder cannot be made, and this process goes on', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'tandem-test-')), 'file')
    onTestFinished(() => rmSync(dirname(file), { recursive: true }))
    writeFileSync(file, '')
    vi.stubEnv('TMPDIR', file)
    const chain = await open()
    vi.unstubAllEnvs()
    const hash = await send(chain, 0, 1, 1n)
    const disconnected = once(chain.provider, 'disconnect')
    const trace = ask(chain, 'debug_traceTransaction', hash).catch(error => error)
    expect(await disconnected).toMatchObject([{ code: 4900 }])
    expect(await trace).toBeInstanceOf(Error)
    await expect(ask(chain, 'eth_blockNumber')).rejects.toMatchObject({ code: 4900 })
    await expect(chain.listen()).rejects.toThrow('STORE_WRITE_FAILED')
  })

  test('is refused with options that make no chain', async () => {
    await expect(createDevnet({ accounts: 0 })).rejects.toThrow('accounts')
    await expect(createDevnet({ accounts: 1_001 })).rejects.toThrow('accounts')
    await expect(createDevnet({ blockTime: -1 })).rejects.toThrow('blockTime')
    await expect(createDevnet({ blocktime: 1 } as never)).rejects.toThrow('blocktime')
    await expect(createDevnet({ hardfork: 'berlin' as never })).rejects.toThrow('cancun, prague, osaka')
    await expect(createDevnet({ clientName: 'geth' as never })).rejects.toThrow('anvil, hardhat')
    await expect(createDevnet({ mnemonic: 'not words' })).rejects.toThrow('mnemonic')
    await expect(createDevnet({ chainId: 0 })).rejects.toThrow()
  })
})

test('an option that is undefined has its default', async () => {
  const chain = await open({ accounts: undefined, chainId: undefined, balance: undefined } as never)
  expect([chain.accounts.length, chain.chainId]).toEqual([10, 1_998_999])
})

describe('many chains in one process', () => {
  /** Runs random operations on a chain. */
  const operate = async (chain: Devnet, random: ReturnType<typeof createRandom>): Promise<void> => {
    const kind = random.below(4)
    if (kind === 0) await chain.mine(1 + random.below(3))
    else if (kind === 1) {
      const id = await chain.snapshot()
      await send(chain, random.below(3), random.below(3), BigInt(random.below(1_000)))
      if (random.chance(0.5)) await chain.revert(id)
    } else await send(chain, random.below(3), random.below(3), BigInt(random.below(1_000)))
  }
  const stateOf = async (chain: Devnet): Promise<unknown> => {
    const accounts = chain.accounts.slice(0, 3).map(({ address }) => address)
    return Promise.all([
      ask(chain, 'eth_blockNumber'),
      ...accounts.flatMap(address =>
        ['eth_getBalance', 'eth_getTransactionCount'].map(method => ask(chain, method, address, 'latest')),
      ),
    ])
  }

  test('go on side by side as each would alone', async () => {
    const { firstSeed, count } = seedRange(3)
    for (let seed = firstSeed; seed < firstSeed + count; seed++) {
      const alone: unknown[] = []
      for (const part of [1, 2]) {
        const chain = await open()
        const random = createRandom(seed * 10 + part)
        for (let step = 0; step < 15; step++) await operate(chain, random)
        alone.push(await stateOf(chain))
      }
      const chains = [await open(), await open()]
      const randoms = [1, 2].map(part => createRandom(seed * 10 + part))
      for (let step = 0; step < 15; step++)
        await Promise.all(chains.map((chain, at) => operate(chain, randoms[at] as (typeof randoms)[0])))
      expect(await Promise.all(chains.map(stateOf)), `SEED=${seed}`).toEqual(alone)
    }
  })

  test('are two hundred at once, each with its own transaction', async () => {
    const chains = await Promise.all(Array.from({ length: 200 }, () => createDevnet({ accounts: 2 })))
    await Promise.all(chains.map((chain, at) => send(chain, 0, 1, BigInt(at))))
    const last = await Promise.all(chains.map(chain => ask(chain, 'eth_getBlockByNumber', 'latest', true)))
    const values = last.map(block => Number((block as { transactions: { value: string }[] }).transactions[0]?.value))
    expect(values).toEqual(chains.map((_, at) => at))
    await Promise.all(chains.map(chain => chain.close()))
    expect(folders()).toEqual([])
  })

  test('leave nothing behind that keeps a process from its end', () => {
    const module = fileURLToPath(new URL('../../../src/devnet/create-devnet.ts', import.meta.url))
    const script = `
      const { createDevnet } = await import(${JSON.stringify(module)})
      {
        await using chain = await createDevnet()
        await chain.mine(300)
        await chain.provider.request({ method: 'eth_getLogs', params: [{ fromBlock: '0x0' }] })
        await chain.listen()
      }
      console.log('end of the script')`
    const { stdout, stderr, status, signal } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      timeout: 50_000,
    })
    expect([stderr, stdout.trim(), status, signal]).toEqual(['', 'end of the script', 0, null])
  })
})

describe('libraries', () => {
  test('viem reads and writes through custom(provider), with keys of its own too', async () => {
    const devnet = await open()
    const transport = custom(devnet.provider)
    const client = createPublicClient({ transport, pollingInterval: 10 })
    expect(await client.getChainId()).toBe(devnet.chainId)
    const [account] = devnet.accounts.map(({ privateKey }) => privateKeyToAccount(privateKey))
    const wallet = createWalletClient({ transport, ...(account && { account }) })
    const hash = await wallet.sendTransaction({ chain: null, data: LOGGER })
    const { status, contractAddress } = await client.waitForTransactionReceipt({ hash })
    expect(status).toBe('success')
    await wallet.sendTransaction({ chain: null, to: contractAddress ?? null })
    expect(await client.getLogs({ fromBlock: 0n })).toMatchObject([{ address: contractAddress }])
  })

  test('ethers signs with unlocked accounts through BrowserProvider', async () => {
    const devnet = await open()
    const provider = new BrowserProvider(devnet.provider)
    onTestFinished(() => provider.destroy())
    const [from, to] = devnet.accounts.map(({ address }) => getAddress(address))
    const signer = await provider.getSigner(from)
    const sent = await signer.sendTransaction({ to: to ?? null, value: parseEther('1') })
    expect((await sent.wait())?.status).toBe(1)
    expect(await provider.getBalance(to ?? '')).toBe(parseEther('10001'))
  })
})
