import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { silentLogger } from '@tandem/base/logger.ts'
import { BlockProofs } from '../src/chain/proof/block-proofs.ts'
import { ARGON2_PROVIDERS } from '../src/crypto/argon2.ts'
import { createWorkVerifier } from '../src/powchain/work-verifier.ts'
import type { Block } from '../src/primitives/block.ts'
import { decodeExtraData } from '../src/primitives/consensus/extra-data.ts'
import { encodeProofHeader } from '../src/primitives/proof-header.ts'
import { CERTIFICATE, CHAIN_ID, openTestChain, type TestChain } from '../test/support/chain.ts'
import { proofGenesis, solved } from '../test/support/powchain/proof-chain.ts'

/*
 * Time that proof headers of the second hash function cost a block: `node bench/proof-verification.ts [--blocks 40]`. One JSON line for each
 * Argon2id provider, with the check of two headers that this node has never seen, and one for whole blocks: with two unknown headers, with two
 * known from gossip, and with none.
 */

const { values } = parseArgs({ options: { blocks: { type: 'string', default: '40' } } })
const blocks = Number(values.blocks)
const dir = mkdtempSync(join(tmpdir(), 'tandem-bench-'))
const genesis = proofGenesis(0)
const open = (name: string): Promise<TestChain> => openTestChain(join(dir, name), { genesis, mode: 'wasm' })

const quantile = (times: readonly number[], share: number): number =>
  Math.round((times.toSorted((a, b) => a - b)[Math.floor(share * (times.length - 1))] ?? Number.NaN) * 1_000) / 1_000
const figures = (times: readonly Time[]) => {
  const wall = times.map(({ ms }) => ms)
  const cpu = times.map(({ cpuMs }) => cpuMs)
  return {
    medianMs: quantile(wall, 0.5),
    p95Ms: quantile(wall, 0.95),
    maxMs: quantile(wall, 1),
    cpuMs: quantile(cpu, 0.5),
  }
}
/** Wall and CPU time of work, of all threads; the second one tells more on a machine that does other things. */
interface Time {
  readonly ms: number
  readonly cpuMs: number
}
const timed = async (work: () => Promise<unknown>): Promise<Time> => {
  const [startMs, cpu] = [performance.now(), process.cpuUsage()]
  await work()
  const { user, system } = process.cpuUsage(cpu)
  return { ms: performance.now() - startMs, cpuMs: (user + system) / 1_000 }
}

/** The proposer builds; the miner finds headers and hides them from it until there are two; the others judge. */
const [proposer, miner, stranger, listener] = [await open('a'), await open('b'), await open('c'), await open('d')]
const all = [proposer, miner, stranger, listener]
const CONTEXT = { number: 0, round: 0, fresh: true }

const providers = await Promise.all(ARGON2_PROVIDERS.map(load => load()))
const byProvider = providers.map(provider => ({
  name: provider.name,
  provider,
  times: [] as Time[],
}))

/** Checks of the block's headers on a node whose verifier has seen none of them. */
const checkEach = async (block: Block): Promise<void> => {
  const { proofTip } = decodeExtraData(block.header.extraData)
  for (const { provider, times } of byProvider) {
    const verifier = createWorkVerifier(CHAIN_ID, async () => provider)
    const { blocks: store } = stranger
    const options = {
      params: genesis.params,
      rows: stranger.proofRows,
      blocks: store,
      verifier,
      pool: stranger.proofPool,
    }
    const checker = new BlockProofs({ ...options, logger: silentLogger })
    const { headBlock } = stranger.chain
    times.push(await timed(() => checker.check(headBlock, block.proofHeaders, proofTip)))
  }
}

const commit = async (block: Block): Promise<void> => {
  for (const { chain, clock } of all) {
    clock.ms = proposer.clock.ms
    await chain.commit(block, CERTIFICATE)
  }
}

const whole = { unknown: [] as Time[], known: [] as Time[], none: [] as Time[] }
const judge = async (on: TestChain, block: Block): Promise<Time> => {
  on.clock.ms = proposer.clock.ms
  return timed(async () => {
    const verdict = await on.chain.validate(block, CONTEXT)
    if (!verdict.valid) throw new Error(verdict.reason)
  })
}

const find = async (): Promise<Uint8Array> => {
  const encoded = encodeProofHeader(await solved(miner))
  await miner.proofPool.submit(encoded, miner.clock.ms)
  return encoded
}

for (let pair = 0; pair < blocks; pair++) {
  const first = await find()
  const empty = await proposer.build()
  whole.none.push(await judge(stranger, empty))
  await commit(empty)
  const second = await find()
  for (const encoded of [first, second])
    for (const { proofPool, clock } of [proposer, listener]) await proofPool.submit(encoded, clock.ms)
  const block = await proposer.build()
  if (block.proofHeaders.length !== 2) throw new Error(`${block.proofHeaders.length} headers`)
  await checkEach(block)
  whole.unknown.push(await judge(stranger, block))
  whole.known.push(await judge(listener, block))
  await commit(block)
}
for (const { name, times } of byProvider)
  console.log(JSON.stringify({ check: 'two unknown headers', provider: name, ...figures(times) }))
for (const [headers, times] of Object.entries(whole))
  console.log(JSON.stringify({ block: `${headers === 'none' ? 'no' : `two ${headers}`} headers`, ...figures(times) }))
for (const chain of all) await chain.close()
rmSync(dir, { recursive: true, force: true })
process.exit()
