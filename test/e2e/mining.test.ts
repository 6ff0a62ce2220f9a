import { expect, test } from 'vitest'
import type { Hex } from '../../src/util/bytes.ts'
import { eventually, startDevnet } from '../support/devnet.ts'

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
