import type { Hex } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { eventually, rpc, startDevnet } from '../support/devnet.ts'
import { RunningLocalnet } from '../support/localnet.ts'
import { startMiner } from '../support/powchain/miner-process.ts'

const TOKEN = 10n ** 18n
const COINBASE: Hex = '0x5ec0de0000000000000000000000000000000001'

interface ProofHeader {
  readonly number: Hex
  readonly algorithm: string
  readonly miner: Hex
  readonly includedIn: Hex | null
}

test('a devnet that mines passes the fork of its proof chain, and its miner earns', async () => {
  const node = await startDevnet(['--mine', '--mine-coinbase', COINBASE, '--block-time', '0.1', '--mine-duty', '0.5'])
  try {
    expect(await node.rpc('eth_mining')).toBe(true)
    const height = () => node.rpc<Hex>('native_proofBlockNumber').then(Number)
    await eventually('the headers after the fork', height, at => at >= 22)
    const header = (at: number) => node.rpc<ProofHeader>('native_getProofHeader', [`0x${at.toString(16)}`])
    expect((await Promise.all([19, 20, 21].map(header))).map(({ algorithm }) => algorithm)).toEqual([
      'sha256d',
      'nativeHash',
      'nativeHash',
    ])
    const first = await header(1)
    const blocks = () => node.rpc<Hex>('eth_blockNumber').then(Number)
    await eventually('the first reward', blocks, at => at >= 60)
    const { miner } = await node.rpc<{ miner: Hex }>('eth_getBlockByNumber', [
      `0x${(Number(first.includedIn) + 1).toString(16)}`,
      false,
    ])
    expect(miner).toBe(COINBASE)
    const rewards = await node.rpc<{ rewards: Record<Hex, Hex> }>('native_getRewards', ['0x3c'])
    // The newest headers share the miners' 40 % of the cycle, and all of them are this miner's.
    const paid = BigInt(rewards.rewards[COINBASE] as Hex)
    expect(paid).toBe(800n * TOKEN)
    expect(BigInt(await node.rpc<Hex>('eth_getBalance', [COINBASE, '0x3c']))).toBe(paid)
    expect(BigInt(await node.rpc<Hex>('eth_hashrate')) > 0n).toBe(true)
    expect(await node.rpc('native_getChainConfig')).toMatchObject({ proofChain: { algorithm: 'nativeHash' } })
    expect(await node.rpc('native_forkStatus')).toMatchObject({ nativeHash: { height: 20, active: true } })
  } finally {
    await node.stop()
  }
})

const BUILT_IN: Hex = '0x5ec0de0000000000000000000000000000000002'
const BY_STRATUM: Hex = '0x5ec0de0000000000000000000000000000000003'

test('three miners, built in, by Stratum and by RPC, earn on four validators past the fork; the chain needs none of them', async () => {
  const net = new RunningLocalnet([
    ...['--validators', '4', '--block-time', '0.4', '--mine', BUILT_IN, '--stratum', '--json'],
  ])
  const { nodes } = await net.ready
  const stratum = new URL(nodes[1]?.stratum as string)
  const miners = [
    startMiner(['--stratum', stratum.host, '--coinbase', BY_STRATUM]),
    startMiner(['--rpc', nodes[2]?.operator as string, '--coinbase', COINBASE]),
  ]
  try {
    const ask = <T>(at: number, method: string, params: readonly unknown[] = []) =>
      rpc<T>(nodes[at]?.http as string, method, params)
    const heightOf = (at: number) => ask<Hex>(at, 'native_proofBlockNumber').then(Number)
    const heights = () => Promise.all(nodes.map((_, at) => heightOf(at)))
    await eventually('every node past the fork', heights, all => all.every(height => height >= 21))
    const finalOf = async (at: number, first: number) => {
      const range = [first, first + 98].map(height => `0x${height.toString(16)}`)
      const headers = await ask<ProofHeader[]>(at, 'native_getProofHeaderRange', range)
      return headers.filter(({ includedIn }) => includedIn !== null)
    }
    const final = (at: number) => finalOf(at, 1)
    const latest = async (at: number) => finalOf(at, Math.max(1, (await heightOf(at)) - 90))
    // Of all headers, not of the first ones: the built-in miner has those while they are easy.
    const earned = new Set<Hex>()
    const earners = async () => {
      for (const { miner } of await latest(3)) earned.add(miner)
      return [...earned]
    }
    await eventually('a header of each miner', earners, found => found.length === 3, 240_000)
    const headers = await eventually(
      'final headers past the fork',
      () => final(0),
      all => all.length >= 21,
      60_000,
    )
    expect(headers.slice(18, 21).map(({ algorithm }) => algorithm)).toEqual(['sha256d', 'nativeHash', 'nativeHash'])
    // `miner` changes exactly one block after inclusion, whoever proposed the block.
    const minerOf = (number: number) =>
      ask<{ miner: Hex }>(1, 'eth_getBlockByNumber', [`0x${number.toString(16)}`, false]).then(({ miner }) => miner)
    const coinbaseBefore = (number: number) =>
      headers.findLast(({ includedIn }) => Number(includedIn) < number)?.miner ?? `0x${'00'.repeat(20)}`
    for (const { includedIn } of headers.slice(0, 8))
      for (const number of [Number(includedIn), Number(includedIn) + 1])
        expect(await minerOf(number), String(number)).toBe(coinbaseBefore(number))
    for (const miner of miners)
      await eventually(
        'its report',
        async () => miner.output(),
        text => /[kM]?H\/s {2}[1-9]\d* accepted, /.test(text),
      )
    expect(await Promise.all(miners.map(miner => miner.stop()))).toEqual([
      [0, null],
      [0, null],
    ])
    // The node with the built-in miner dies at once: no header that a block included is lost, and the chain goes on without work.
    const included = await final(0)
    process.kill(nodes[0]?.pid as number, 'SIGKILL')
    await expect.poll(() => final(1)).toEqual(expect.arrayContaining(included))
    const numberOf = () => ask<Hex>(1, 'eth_blockNumber').then(Number)
    const killedAt = await numberOf()
    await eventually('blocks without any miner', numberOf, number => number >= killedAt + 6)
    expect(await minerOf(await numberOf())).toBe((await latest(1)).at(-1)?.miner)
  } finally {
    await Promise.all(miners.map(miner => miner.stop()))
    await net.process.end('SIGINT')
  }
}, 500_000)
