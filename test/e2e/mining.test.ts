import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Hex } from '../../src/util/bytes.ts'
import { eventually, ROOT, rpc, startDevnet } from '../support/devnet.ts'
import { RunningLocalnet } from '../support/localnet.ts'

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
    // 40 % in sixtieths, from the block after the first header on.
    const turns = BigInt(60 - Number(first.includedIn))
    const reward = (800n * TOKEN * turns) / 60n
    const paid = BigInt(rewards.rewards[COINBASE] as Hex)
    expect(paid >= reward && paid < reward + 100n).toBe(true)
    expect(BigInt(await node.rpc<Hex>('eth_getBalance', [COINBASE, '0x3c']))).toBe(paid)
    expect(BigInt(await node.rpc<Hex>('eth_hashrate')) > 0n).toBe(true)
    expect(await node.rpc('native_getChainConfig')).toMatchObject({ proofChain: { algorithm: 'nativeHash' } })
    expect(await node.rpc('native_forkStatus')).toMatchObject({ nativeHash: { height: 20, active: true } })
  } finally {
    await node.stop()
  }
})

/** `tandem mine` until it is stopped. */
const startMiner = (args: readonly string[]) => {
  const child = spawn(process.execPath, [join(ROOT, 'bin', 'tandem.mjs'), 'mine', ...args], { cwd: ROOT })
  let text = ''
  child.stdout.on('data', data => {
    text += String(data)
  })
  const exit = once(child, 'exit')
  return {
    output: () => text,
    async stop() {
      child.kill('SIGINT')
      return exit
    },
  }
}

test('four validators include what a miner in a process of its own finds for one of them, past the fork', async () => {
  const net = new RunningLocalnet(['--validators', '4', '--block-time', '0.4', '--json'])
  const { nodes } = await net.ready
  const miner = startMiner(['--rpc', nodes[0]?.operator as string, '--coinbase', COINBASE])
  try {
    const ask = <T>(at: number, method: string, params: readonly unknown[] = []) =>
      rpc<T>(nodes[at]?.http as string, method, params)
    const heights = () => Promise.all(nodes.map((_, at) => ask<Hex>(at, 'native_proofBlockNumber').then(Number)))
    await eventually('every node past the fork', heights, all => all.every(height => height >= 21), 120_000)
    const headers = await Promise.all(nodes.map((_, at) => ask<ProofHeader>(at, 'native_getProofHeader', ['0x14'])))
    expect(new Set(headers.map(header => JSON.stringify(header))).size).toBe(1)
    expect(headers[0]).toMatchObject({ algorithm: 'nativeHash', miner: COINBASE })
    // Any node may have proposed the block: the miner gave each header only to the first node.
    const proposers = new Set<Hex>()
    for (let height = 1; height <= 20; height++) {
      const { includedIn } = await ask<ProofHeader>(1, 'native_getProofHeader', [`0x${height.toString(16)}`])
      const block = await ask<{ proposer: Hex }>(1, 'eth_getBlockByNumber', [includedIn, false])
      proposers.add(block.proposer)
    }
    expect(proposers.size).toBeGreaterThan(1)
    await eventually(
      'its report',
      async () => miner.output(),
      text => / H\/s {2}[1-9]\d* accepted, /.test(text),
    )
    expect(await miner.stop()).toEqual([0, null])
  } finally {
    await miner.stop()
    await net.process.end('SIGINT')
  }
})
