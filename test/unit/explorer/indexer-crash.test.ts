import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test, vi } from 'vitest'
import { SqliteIndex } from '../../../src/explorer/store/sqlite/sqlite-index.ts'
import { createRandom } from '../../../src/sim/random.ts'
import type { Hex } from '../../../src/util/bytes.ts'
import { ACCOUNTS, openTestChain } from '../../support/chain.ts'
import { senderOn, transferData } from '../../support/explorer/token-chain.ts'

vi.setConfig({ testTimeout: 300_000 })

const SCRIPT = fileURLToPath(new URL('../../support/explorer/index-process.ts', import.meta.url))
const [, BOB] = ACCOUNTS as readonly [Hex, Hex]
const BLOCKS = 40

/** Runs the indexer until it is done, or is killed a moment after so many batches were begun. Answers whether it was done. */
const runIndexer = (storePath: string, indexPath: string, batches: number, delayMs: number): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [SCRIPT, storePath, indexPath], { stdio: ['pipe', 'pipe', 'pipe'] })
    let out = ''
    let problems = ''
    let begun = 0
    // A killed process does not read its standard input.
    child.stdin.on('error', () => {})
    child.stderr.on('data', data => {
      problems += String(data)
    })
    child.stdout.on('data', data => {
      out += String(data)
      for (const { length } = out.split('\n'); begun < length - 1; begun++) {
        if (begun < batches) child.stdin.write('\n')
        if (begun + 1 === batches) setTimeout(() => child.kill('SIGKILL'), delayMs)
      }
    })
    child.once('exit', (code, signal) => {
      if (out.includes('done')) resolve(true)
      else if (signal === 'SIGKILL') resolve(false)
      else reject(new Error(`the indexer ended with ${code}: ${problems}`))
    })
  })

test('an indexer that is killed again and again loses nothing and counts nothing twice', async () => {
  const seed = Number(process.env['SEED'] ?? 20_261_122)
  const random = createRandom(seed)
  const dir = mkdtempSync(join(tmpdir(), 'tandem-index-crash-'))
  try {
    const chain = await openTestChain(dir)
    const alice = senderOn(chain)
    const coin = await alice.deploy('Coin')
    for (let number = 2; number <= BLOCKS; number++) {
      await alice.submit({ to: coin, data: transferData(BOB, BigInt(number)), gasLimit: 200_000n })
      await alice.submit({ to: BOB, value: 1n, gasLimit: 21_000n })
      await chain.mine()
    }
    const { hash } = chain.chain.headBlock
    await chain.close()
    const indexPath = join(dir, 'index.sqlite')
    let kills = 0
    while (!(await runIndexer(join(dir, 'db'), indexPath, 1 + random.below(5), random.below(12)))) {
      kills++
      expect(kills, `SEED=${seed}: it never gets to the end`).toBeLessThan(100)
    }
    expect(kills).toBeGreaterThan(3)
    const index = new SqliteIndex({ path: indexPath })
    expect(await index.position()).toEqual({ number: BLOCKS, hash })
    expect(await index.recount(), `SEED=${seed}`).toEqual([])
    expect(await index.counters()).toMatchObject({
      blocks: BLOCKS + 1,
      transactions: 2 * BLOCKS - 1,
      transfers: BLOCKS,
    })
    await index.close()
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
})
