import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Hex } from '@tandem/base/bytes.ts'
import {
  createPublicClient,
  createWalletClient,
  defineChain,
  http,
  type PublicClient,
  toHex,
  type WalletClient,
  webSocket,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rpc } from '../support/devnet.ts'
import { type LocalnetNode, type LocalnetReady, RunningLocalnet, runs } from '../support/localnet.ts'
import { eventually } from '../support/node-process.ts'
import { eventuallyPositive, scrape } from '../support/scrape.ts'

/** Answers 42 to every call. */
const DEPLOY_42: Hex = '0x600a600c600039600a6000f3602a60005260206000f3'

const hashAt = async (node: LocalnetNode, number: number): Promise<Hex> =>
  eventually(
    `block ${number} of ${node.name}`,
    async () => {
      const block = await rpc<{ hash: Hex } | null>(node.http, 'eth_getBlockByNumber', [
        `0x${number.toString(16)}`,
        false,
      ])
      return block?.hash
    },
    { everyMs: 100 },
  )

const expectSameBlock = async (nodes: readonly LocalnetNode[], number: number): Promise<void> => {
  const hashes = await Promise.all(nodes.map(node => hashAt(node, number)))
  expect(new Set(hashes).size).toBe(1)
}

describe('four validators and a full node', () => {
  let dir: string
  let localnet: RunningLocalnet
  let ready: LocalnetReady
  let reader: PublicClient
  let wallet: WalletClient
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'tandem-localnet-test-'))
    localnet = new RunningLocalnet(['--full', '1', '--metrics', '--datadir', join(dir, 'net')])
    ready = await localnet.ready
    const chain = defineChain({
      id: ready.chainId,
      name: 'localnet',
      nativeCurrency: { name: 'dTNDM', symbol: 'dTNDM', decimals: 18 },
      rpcUrls: { default: { http: [ready.http] } },
    })
    reader = createPublicClient({ chain, transport: http(), pollingInterval: 100 })
    const account = privateKeyToAccount(ready.accounts[0]?.privateKey as Hex)
    wallet = createWalletClient({ account, chain, transport: http() })
  })
  afterAll(async () => {
    await localnet.process.kill()
    rmSync(dir, { recursive: true, force: true })
  })

  test('the ready line names every node, the first one on top, and the chain runs', async () => {
    const [first] = ready.nodes
    expect([ready.http, ready.ws]).toEqual([first?.http, first?.ws])
    expect(ready.nodes.map(({ name, validator }) => [name, validator !== null])).toEqual([
      ['validator-1', true],
      ['validator-2', true],
      ['validator-3', true],
      ['validator-4', true],
      ['full-1', false],
    ])
    const council = await rpc<Hex[]>(ready.http, 'native_getCouncil')
    expect(new Set(council)).toEqual(new Set(ready.nodes.flatMap(({ validator }) => validator ?? [])))
    expect(ready.accounts[0]?.address).toBe('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266')
    expect(ready.nodes.map(({ pid }) => runs(pid))).toEqual([true, true, true, true, true])
    const number = await rpc<Hex>(ready.http, 'eth_blockNumber')
    expect(Number(number)).toBeGreaterThan(0)
    await eventually('a full mesh', async () => {
      const peers = await Promise.all(ready.nodes.map(({ operator }) => rpc<Hex>(operator, 'net_peerCount')))
      return peers.every(count => count === '0x4') ? true : undefined
    })
  })

  test('a contract deployed by viem at the top URL answers at every node', async () => {
    const hash = await wallet.sendTransaction({ data: DEPLOY_42, gas: 200_000n } as never)
    const receipt = await reader.waitForTransactionReceipt({ hash })
    expect(receipt.status).toBe('success')
    for (const node of ready.nodes) {
      await hashAt(node, Number(receipt.blockNumber))
      const answer = await rpc<Hex>(node.http, 'eth_call', [{ to: receipt.contractAddress }, 'latest'])
      expect(BigInt(answer)).toBe(42n)
    }
    const socket = createPublicClient({ transport: webSocket(ready.ws, { reconnect: false }) })
    expect(await socket.getBlockNumber()).toBeGreaterThanOrEqual(receipt.blockNumber)
    const client = await socket.transport.getRpcClient()
    client.close()
    await expectSameBlock(ready.nodes, Number(receipt.blockNumber) + 1)
  })

  test('status events tell height, round, peers, role, state and lag', async () => {
    type Status = { readonly event: string; readonly nodes: readonly Record<string, unknown>[] }
    // On a busy machine a node may be a block behind for a moment.
    const isInStep = (event: unknown) =>
      (event as Status).event === 'status' &&
      (event as Status).nodes.every(({ state }) => state === 'voting' || state === 'following')
    const { nodes } = (await localnet.until('a status of nodes in step', isInStep)) as never as Status
    expect(nodes.map(({ name, role }) => [name, role])).toEqual(
      ready.nodes.map(({ name, validator }) => [name, validator === null ? 'full' : 'validator']),
    )
    for (const node of nodes)
      expect(node).toMatchObject({
        number: expect.any(Number),
        round: expect.any(Number),
        peers: expect.any(Number),
        lag: expect.any(Number),
        state: node['role'] === 'full' ? 'following' : 'voting',
      })
  })

  test('the metrics of consensus count', async () => {
    const [first] = ready.nodes as [LocalnetNode]
    const votes = ready.nodes
      .slice(1, 4)
      .flatMap(({ validator }) =>
        ['prepare', 'commit'].map(type => `consensus_votes_total{validator="${validator}",type="${type}"}`),
      )
    const counters = [
      'consensus_prepare_seconds_count',
      'consensus_commit_seconds_count',
      'consensus_fsync_seconds_count{file="log"}',
      'consensus_fsync_seconds_count{file="watermark"}',
      'consensus_decisions_total',
      'consensus_voting_state',
      ...votes,
    ]
    const samples = await eventuallyPositive(first.metrics, counters)
    expect([...samples.keys()]).toContain('consensus_missing_validators')
    await eventually('all validators', async () =>
      (await scrape(first.metrics)).get('consensus_missing_validators') === 0 ? true : undefined,
    )
  })

  test('a node that dies is reported at once with the end of its log, the rest go on, and the exit status is 1', async () => {
    const victim = ready.nodes[2] as LocalnetNode
    process.kill(victim.pid, 'SIGKILL')
    const died = await localnet.until('the death', ({ event }) => event === 'died')
    expect(died).toMatchObject({ node: 'validator-3', code: null, signal: 'SIGKILL', log: victim.log })
    expect((died['lines'] as string[]).length).toBeGreaterThan(0)
    expect(readFileSync(victim.log, 'utf8')).toContain((died['lines'] as string[]).at(-1))
    const rest = ready.nodes.filter(node => node !== victim)
    const number = Number(await rpc<Hex>(ready.http, 'eth_blockNumber'))
    await expectSameBlock(rest, number + 3)
  })

  test('a signal ends all, and the same network goes on the next time', async () => {
    const number = Number(await rpc<Hex>(ready.http, 'eth_blockNumber'))
    const hash = await hashAt(ready.nodes[0] as LocalnetNode, number)
    const { code } = await localnet.process.end('SIGINT')
    expect(code).toBe(localnet.told.some(({ event }) => event === 'died') ? 1 : 0)
    expect(ready.nodes.filter(({ pid }) => runs(pid))).toEqual([])
    expect(localnet.told.at(-1)).toMatchObject({ event: 'stopped' })

    const again = new RunningLocalnet(['--datadir', join(dir, 'net')])
    try {
      const { nodes } = await again.ready
      expect(nodes.map(({ name }) => name)).toEqual(['validator-1', 'validator-2', 'validator-3', 'validator-4'])
      for (const node of nodes) expect(await hashAt(node, number)).toBe(hash)
      expect((await again.process.end('SIGTERM')).code).toBe(0)
      expect(nodes.filter(({ pid }) => runs(pid))).toEqual([])
    } finally {
      await again.process.kill()
    }
  })
})

test('two of four members with empty folders are named with the option that ends the standstill, and it does', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'tandem-localnet-test-'))
  const run = async (args: readonly string[], use: (localnet: RunningLocalnet) => Promise<void>): Promise<void> => {
    const localnet = new RunningLocalnet(['--datadir', join(dir, 'net'), ...args])
    try {
      await use(localnet)
      await localnet.process.end('SIGTERM')
    } finally {
      await localnet.process.kill()
    }
  }
  try {
    const lost = ['validator-2', 'validator-3']
    await run(['--block-time', '0.2'], async ({ ready }) => {
      const { nodes } = await ready
      // A member whose key the chain has never seen is new.
      const unseen = new Set(nodes.filter(({ name }) => lost.includes(name)).map(({ validator }) => validator as Hex))
      for (let number = 1; unseen.size > 0; number++) {
        await hashAt(nodes[0] as LocalnetNode, number + 1)
        const url = nodes[0]?.http as string
        const { signers } = await rpc<{ signers: Hex[] }>(url, 'native_getCertificate', [toHex(number)])
        for (const signer of signers) unseen.delete(signer)
      }
    })
    for (const name of lost)
      for (const part of ['consensus', 'db', 'db.pid', 'peers.json', 'transactions.journal'])
        rmSync(join(dir, 'net', name, part), { recursive: true, force: true })
    await run([], async localnet => {
      localnet.ready.catch(() => {})
      const slow = await localnet.until('the reason', ({ event }) => event === 'slow')
      expect(slow).toMatchObject({ quarantined: lost })
    })
    await run(['--trust-missing-log'], async ({ ready }) => expect((await ready).nodes).toHaveLength(4))
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}, 240_000)

test('chaos: what is struck comes back, and all end with the same blocks', async () => {
  const localnet = new RunningLocalnet(['--block-time', '0.5', '--chaos', '--seed', '11', '--until-block', '14'])
  try {
    const { seed, nodes, datadir } = await localnet.ready
    expect(seed).toBe(11)
    expect(await localnet.process.exited).toBe(0)
    const told = (...events: readonly string[]) => localnet.told.filter(({ event }) => events.includes(event))
    expect(told('died', 'fork', 'unrecovered')).toEqual([])
    expect(told('chaos').length).toBeGreaterThan(0)
    expect(told('recovered').length).toBe(new Set(told('chaos').map(({ wave }) => wave)).size)
    expect(told('reached')).toEqual([{ event: 'reached', number: 14, hash: expect.stringMatching(/^0x[0-9a-f]{64}$/) }])
    expect(nodes.filter(({ pid }) => runs(pid))).toEqual([])
    expect(existsSync(datadir)).toBe(false)
  } finally {
    await localnet.process.kill()
  }
}, 180_000)

test('whatever ends the command ends its nodes', async () => {
  const localnet = new RunningLocalnet(['--validators', '1', '--block-time', '0.5'])
  const { nodes, datadir } = await localnet.ready
  // Not the group: the nodes are told by nobody.
  process.kill(localnet.process.child.pid as number, 'SIGKILL')
  await eventually('no node', async () => (nodes.some(({ pid }) => runs(pid)) ? undefined : true))
  rmSync(datadir, { recursive: true, force: true })
})

test('a node that dies ends a test that waits for a block, with status 1', async () => {
  const args = ['--validators', '1', '--full', '1', '--block-time', '0.5', '--until-block', '1000000']
  const localnet = new RunningLocalnet(args)
  try {
    const { nodes } = await localnet.ready
    process.kill(nodes[1]?.pid as number, 'SIGKILL')
    expect(await localnet.process.exited).toBe(1)
    expect(localnet.told.map(({ event }) => event)).toContain('died')
    expect(nodes.filter(({ pid }) => runs(pid))).toEqual([])
  } finally {
    await localnet.process.kill()
  }
})
