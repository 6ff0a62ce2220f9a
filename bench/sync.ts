/**
 * Catching up between two real nodes over the loopback: empty blocks of a committee of four, then full ones. `perSecond` counts from
 * the first block imported to the last; `localPerSecond` is what the chain alone imports, without network, certificates and consensus.
 * `cpuMs` is the processor time of the follower for a block, all its threads together (Linux): what a machine that is
 * busy otherwise does not change. One JSON line.
 *   node bench/sync.ts [empty blocks] [full blocks] [transfers in each]     (default: 10000 30 2000)
 * FOLLOWER_OPTIONS in the environment is handed to the follower's Node, for example --cpu-prof.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import type { Hex } from '@tandem/base/bytes.ts'
import { addressFromPrivateKey } from '../src/crypto/signature.ts'
import type { Block } from '../src/primitives/block.ts'
import type { Certificate } from '../src/primitives/consensus/certificate.ts'
import { openTestChain, signedRaw, type TestChain } from '../test/support/chain.ts'
import { rpc } from '../test/support/devnet.ts'
import { spawnNode } from '../test/support/node-process.ts'
import { decideNext, GENESIS, genesis, SENDER_KEYS } from './committee/certified-chain.ts'
import { cpuMsOf } from './process-usage.ts'

/** Full blocks raise the base fee. */
const FEES = { maxFeePerGas: 700n * 10n ** 9n, maxPriorityFeePerGas: 700n * 10n ** 9n }

type Decided = readonly [Block, Certificate]

/** A chain on disk that nobody has to vote for any more. */
const write = async (dir: string, count: number, transfers: number): Promise<readonly Decided[]> => {
  const chain = await openTestChain(dir, { mode: 'wasm', genesis })
  const decided: Decided[] = []
  try {
    for (let number = 1; number <= count; number++) {
      await submit(chain, number, transfers)
      decided.push(await decideNext(chain))
    }
  } finally {
    await chain.close()
  }
  return decided
}

const submit = async (chain: TestChain, number: number, transfers: number): Promise<void> => {
  const each = Math.ceil(transfers / SENDER_KEYS.length)
  const raws = SENDER_KEYS.flatMap((key, sender) =>
    Array.from({ length: transfers === 0 ? 0 : each }, (_, at) => {
      const to = addressFromPrivateKey(SENDER_KEYS[(sender + at + number) % SENDER_KEYS.length] as Uint8Array)
      return signedRaw(key, { nonce: (number - 1) * each + at, to, value: 1n, ...FEES })
    }),
  )
  await Promise.all(raws.map(raw => chain.pool.service.submit(raw)))
}

/** Blocks a second that the chain alone executes and writes. */
const measureLocal = async (dir: string, decided: readonly Decided[]): Promise<number> => {
  const chain = await openTestChain(dir, { mode: 'wasm', genesis })
  try {
    const startedMs = performance.now()
    for (const [block, certificate] of decided) await chain.chain.commit(block, certificate)
    await chain.chain.flush()
    return (decided.length * 1_000) / (performance.now() - startedMs)
  } finally {
    await chain.close()
  }
}

const measureSync = async (dir: string, genesisFile: string, count: number) => {
  const args = [
    'start',
    '--network',
    'devnet',
    '--genesis',
    genesisFile,
    '--port',
    '0',
    '--operator-port',
    '0',
    '--p2p-host',
    '127.0.0.1',
  ]
  const argsOf = (name: string) => [...args, '--datadir', join(dir, name), '--p2p-port', '0', '--no-discovery']
  const source = spawnNode(argsOf('source'))
  const { peer } = await source.ready
  const options = process.env['FOLLOWER_OPTIONS']
  const follower = spawnNode([...argsOf('follower'), '--peers', peer as string], {
    env: options === undefined ? {} : { NODE_OPTIONS: options },
  })
  try {
    const { http } = await follower.ready
    const number = async () => Number(await rpc<Hex>(http, 'eth_blockNumber', []))
    let first = await number()
    while (first === 0) first = await number()
    const startedMs = performance.now()
    const pid = follower.child.pid as number
    const startedCpuMs = cpuMsOf(pid)
    let last = first
    while (last < count) {
      await new Promise(resolve => setTimeout(resolve, 50))
      last = await number()
    }
    const perSecond = ((last - first) * 1_000) / (performance.now() - startedMs)
    return { perSecond: round(perSecond), cpuMs: round((cpuMsOf(pid) - startedCpuMs) / (last - first)) }
  } finally {
    await follower.end('SIGTERM')
    await source.end('SIGTERM')
  }
}

const round = (value: number): number => Math.round(value * 100) / 100

const measure = async (count: number, transfers: number) => {
  const dir = mkdtempSync(join(tmpdir(), 'tandem-sync-'))
  try {
    const genesisFile = join(dir, 'genesis.json')
    writeFileSync(genesisFile, GENESIS)
    const decided = await write(join(dir, 'source'), count, transfers)
    const local = await measureLocal(join(dir, 'local'), decided)
    const sync = await measureSync(dir, genesisFile, count)
    return { blocks: count, transfers, ...sync, localPerSecond: round(local) }
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

const [empty = 10_000, full = 30, transfers = 2_000] = process.argv.slice(2).map(Number)
const results = { empty: await measure(empty, 0), full: await measure(full, transfers) }
console.log(JSON.stringify({ bench: 'sync', ...results }))
