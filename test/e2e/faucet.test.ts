import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addressFromPrivateKey } from '../../src/crypto/signature.ts'
import { eventually, type RunningNode, rpc, startDevnet, withTempDir } from '../support/devnet.ts'
import { recipient } from '../support/faucet/rig.ts'
import { type NodeProcess, spawnNode } from '../support/node-process.ts'

const TEN = '0x8ac7230489e80000'
const JSON_BODY = { 'content-type': 'application/json' }

let node: RunningNode
let faucet: string

beforeAll(async () => {
  node = await startDevnet(['--block-time', '0', '--metrics-port', '0', '--execution', 'wasm'])
  faucet = node.faucet as string
})
afterAll(() => node.kill())

const ask = (address: unknown, url = faucet) =>
  fetch(url, { method: 'POST', headers: JSON_BODY, body: JSON.stringify({ address }) })
const balanceOf = (address: Hex): Promise<unknown> => node.rpc('eth_getBalance', [address, 'latest'])
const paid = (address: Hex) =>
  eventually(
    'paid',
    () => balanceOf(address),
    balance => balance === TEN,
  )

/** The faucet has seen its transfer in a block. */
const settled = (address: Hex, url: string) =>
  eventually(
    'settled',
    async () => (await fetch(`${url}/grants/${address}`, { headers: { accept: 'application/json' } })).json(),
    grant => (grant as { readonly state?: string }).state === 'settled',
  )

describe('faucet of a devnet', () => {
  test('pays from JSON, and refuses the second try with the time left', async () => {
    const address = recipient(1)
    const first = await ask(address)
    expect(first.status).toBe(200)
    const grant = (await first.json()) as { readonly txHash: Hex; readonly nextEligibleAt: string }
    expect(grant).toMatchObject({ amount: '10000000000000000000', address, txHash: expect.stringMatching(/^0x/) })
    await paid(address)
    const second = await ask(address)
    expect(second.status).toBe(429)
    const seconds = Number(second.headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(86_000)
    expect(seconds).toBeLessThanOrEqual(86_400)
    expect(await second.json()).toMatchObject({
      error: { code: 'TOO_SOON', field: 'address' },
      nextEligibleAt: grant.nextEligibleAt,
    })
  })

  test('pays from the form, which works without script, and shows the grant', async () => {
    const page = await (await fetch(faucet, { headers: { accept: 'text/html' } })).text()
    expect(page).toMatch(/<form [^>]*method="post" action="\/faucet"/)
    const address = recipient(2)
    const answer = await fetch(faucet, { method: 'POST', body: new URLSearchParams({ address }), redirect: 'manual' })
    expect([answer.status, answer.headers.get('location')]).toEqual([303, `/faucet/grants/${address}`])
    await paid(address)
    const grant = await fetch(`${node.http}/faucet/grants/${address}`)
    expect(grant.headers.get('content-security-policy')).toContain("script-src 'self'")
    expect(await grant.text()).toContain('Next grant')
    const again = await fetch(faucet, { method: 'POST', body: new URLSearchParams({ address }) })
    expect(again.status).toBe(429)
    expect(await again.text()).toMatch(/The next one is possible in (1 day|23 hours)/)
  })

  test('200 posts at once for one address make one transfer', async () => {
    const address = recipient(3)
    const statuses = await Promise.all(Array.from({ length: 200 }, async () => (await ask(address)).status))
    expect(statuses.filter(status => status === 200)).toHaveLength(1)
    expect(new Set(statuses)).toEqual(new Set([200, 429]))
    await paid(address)
  })

  test.each([
    ['0x12', /this has 2/],
    [`0X${recipient(4).slice(2)}`, /x in lower case/],
    [` ${recipient(4)}`, /spaces/],
    [recipient(4).slice(2), /Put 0x/],
    [`0x${'0'.repeat(40)}`, /zero address/],
    ['<script>alert(1)</script>', /begins with 0x/],
    ['0xa0ee7a142d267c1f36714e4a8f75612f20a79720', /faucet&#39;s own|faucet's own/],
    ['0x0000000000000000000000000000000000000400', /the chain itself/],
    [7, /must be a text/],
  ])('%s is refused with its message', async (address, message) => {
    const answer = await ask(address)
    expect(answer.status).toBe(400)
    expect(((await answer.json()) as { readonly error: { readonly message: string } }).error.message).toMatch(message)
    if (typeof address !== 'string') return
    const page = await fetch(faucet, { method: 'POST', body: new URLSearchParams({ address }) })
    const text = await page.text()
    expect(page.status).toBe(400)
    expect(text).toMatch(message)
    expect(text).not.toContain('<script>alert')
  })

  test('a contract, another site, a large body and no JSON are refused', async () => {
    const contract = recipient(5)
    await node.rpc('hardhat_setCode', [contract, '0x00'])
    expect(await (await ask(contract)).text()).toContain('address of a contract')
    const headers = { ...JSON_BODY, origin: 'http://evil.example' }
    const body = JSON.stringify({ address: recipient(6) })
    expect((await fetch(faucet, { method: 'POST', headers, body })).status).toBe(403)
    expect((await ask('x'.repeat(5_000))).status).toBe(413)
    expect((await fetch(faucet, { method: 'POST', headers: JSON_BODY, body: '{' })).status).toBe(400)
    expect((await fetch(faucet, { method: 'POST', headers: { 'content-type': 'text/x' }, body })).status).toBe(415)
    expect(await balanceOf(recipient(6))).toBe('0x0')
  })

  test('an address is paid again when the block with its transfer was taken back', async () => {
    const address = recipient(7)
    const snapshot = await node.rpc('evm_snapshot')
    expect((await ask(address)).status).toBe(200)
    await settled(address, faucet)
    expect((await ask(address)).status).toBe(429)
    await node.rpc('evm_revert', [snapshot])
    expect(await balanceOf(address)).toBe('0x0')
    expect((await ask(address)).status).toBe(200)
    await paid(address)
    await settled(address, faucet)
    expect((await ask(address)).status).toBe(429)
  })

  test('counts grants and refusals', async () => {
    const text = await (await fetch(node.metrics as string)).text()
    expect(text).toMatch(/^faucet_grants_total 5$/m)
    expect(text).toMatch(/^faucet_refusals_total\{reason="too_soon"\} \d+$/m)
    expect(text).toMatch(/^faucet_balance_wei \d/m)
  })
})

/** Kills before or after a call reaches the node. */
interface Trigger {
  readonly method: string
  readonly param?: string
  readonly isForwarded: boolean
}

/** Passes calls on to the devnet, and kills the faucet at one of them. */
const startRelay = async () => {
  let trigger: (Trigger & { readonly kill: () => Promise<void> }) | undefined
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    const { method, params } = JSON.parse(body) as { readonly method: string; readonly params: readonly unknown[] }
    const hit = trigger?.method === method && (trigger.param === undefined || params.includes(trigger.param))
    if (hit && trigger?.isForwarded === false) return trigger.kill()
    const answer = await (await fetch(node.http, { method: 'POST', headers: JSON_BODY, body })).text()
    if (hit) return trigger?.kill()
    response.end(answer)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    set: (next: typeof trigger) => {
      trigger = next
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

describe('faucet as a process of its own', () => {
  test('kill -9 between each pair of steps makes one transfer', () =>
    withTempDir(async dir => {
      const { address: sender, privateKey } = node.accounts[8] as RunningNode['accounts'][number]
      const key = join(dir, 'key')
      writeFileSync(key, privateKey, { mode: 0o600 })
      const relay = await startRelay()
      const start = (): NodeProcess => {
        const at = ['--datadir', join(dir, 'faucet'), '--chain-id', String(node.chainId), '--port', '0']
        return spawnNode(['faucet', '--rpc', relay.url, '--key', key, ...at])
      }
      const triggers: readonly Trigger[] = [
        { method: 'eth_getTransactionCount', param: 'pending', isForwarded: false },
        { method: 'eth_sendRawTransaction', isForwarded: false },
        { method: 'eth_sendRawTransaction', isForwarded: true },
        { method: 'eth_getTransactionReceipt', isForwarded: true },
      ]
      for (const [index, trigger] of triggers.entries()) {
        const child = start()
        const { faucet: url } = await child.ready
        // What the kill before left is paid first.
        for (let n = 0; n < index; n++) await settled(recipient(100 + n), url as string)
        relay.set({ ...trigger, kill: () => child.kill() })
        await ask(recipient(100 + index), url).catch(() => undefined)
        await child.exited
        relay.set(undefined)
      }
      const last = start()
      const { faucet: url } = await last.ready
      for (const index of triggers.keys()) {
        await settled(recipient(100 + index), url as string)
        expect(await balanceOf(recipient(100 + index))).toBe(TEN)
        expect((await ask(recipient(100 + index), url)).status).toBe(429)
      }
      expect(await node.rpc('eth_getTransactionCount', [sender, 'latest'])).toBe('0x4')
      await last.end('SIGINT')
      relay.close()
    }))

  test('refuses mainnet by name, and a chain that it was not made for', () =>
    withTempDir(async dir => {
      const key = join(dir, 'key')
      writeFileSync(key, '11'.repeat(32), { mode: 0o600 })
      const run = async (...args: readonly string[]): Promise<string> => {
        const child = spawnNode(['faucet', '--rpc', node.http, '--key', key, '--datadir', dir, '--port', '0', ...args])
        expect(await child.exited).toBe(1)
        return child.stderr()
      }
      expect(await run('--chain-id', '20250217')).toContain('never runs on mainnet')
      expect(await run()).toContain('The node serves chain 1998999, the faucet is for chain 1998991')
    }))
})

describe('faucet of a testnet', () => {
  const validator = '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d'
  const faucetKey = `0x${'77'.repeat(32)}` as Hex
  const addressOf = (key: Hex): Hex => addressFromPrivateKey(hexToBytes(key))
  const genesisOf = (network: 'mainnet' | 'testnet'): string =>
    JSON.stringify({
      format: 'tandem/1',
      network,
      timestamp: 1_735_689_600,
      council: [
        { name: 'one', validator: addressOf(validator), reward: addressOf(validator), stake: String(35n * 10n ** 24n) },
      ],
      foundation: addressOf(validator),
      alloc: { [addressOf(faucetKey)]: { balance: String(10n ** 22n) } },
    })
  const startIn = (dir: string, network: 'mainnet' | 'testnet'): NodeProcess => {
    const file = (name: string, content: string): string => {
      writeFileSync(join(dir, name), content, { mode: 0o600 })
      return join(dir, name)
    }
    return spawnNode([
      ...['start', '--network', network, '--genesis', file(`${network}.json`, genesisOf(network))],
      ...['--validator-key', file('validator', validator.slice(2)), '--datadir', join(dir, network)],
      ...['--port', '0', '--operator-port', '0', '--faucet', '--faucet-key', file('faucet', faucetKey.slice(2))],
    ])
  }

  test('asks for work, pays inside the node, keeps its rule after a restart', () =>
    withTempDir(async dir => {
      let started = startIn(dir, 'testnet')
      let { faucet: url, http } = (await started.ready) as { readonly faucet: string; readonly http: string }
      const [first, second] = [recipient(201), recipient(202)]
      expect((await ask(first, url)).status).toBe(200)
      const refused = await ask(second, url)
      expect([refused.status, ((await refused.json()) as { error: { code: string } }).error.code]).toEqual([
        429,
        'CLIENT_LIMIT',
      ])
      const { work } = (await (await fetch(url, { headers: { accept: 'application/json' } })).json()) as {
        readonly work: { readonly challenge: string; readonly atMs: number; readonly bits: number }
      }
      expect(work.bits).toBe(20)
      const solution = { challenge: work.challenge, atMs: work.atMs, nonce: solve(work.challenge, second, work.bits) }
      const body = JSON.stringify({ address: second, work: solution })
      expect((await fetch(url, { method: 'POST', headers: JSON_BODY, body })).status).toBe(200)
      for (const address of [first, second]) {
        await settled(address, url)
        expect(await rpc(http, 'eth_getBalance', [address, 'latest'])).toBe(TEN)
      }
      await started.kill()
      started = startIn(dir, 'testnet')
      ;({ faucet: url, http } = (await started.ready) as { readonly faucet: string; readonly http: string })
      for (const address of [first, second]) expect((await ask(address, url)).status).toBe(429)
      await started.end('SIGINT')
    }))

  test('is refused on mainnet, by name', () =>
    withTempDir(async dir => {
      const child = startIn(dir, 'mainnet')
      expect(await child.exited).toBe(1)
      expect(child.stderr()).toContain('never runs on mainnet')
    }))
})

const solve = (challenge: string, address: Hex, bits: number): string => {
  for (let nonce = 0; ; nonce++) {
    const hash = createHash('sha256').update(`${challenge}:${address}:${nonce}`).digest()
    if (hash.readUInt32BE(0) >>> (32 - bits) === 0) return String(nonce)
  }
}
