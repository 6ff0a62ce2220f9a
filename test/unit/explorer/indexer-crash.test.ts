import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test, vi } from 'vitest'
import { openIndex } from '../../../src/explorer/store/open-index.ts'
import { createRandom } from '../../../src/sim/random.ts'
import type { Hex } from '../../../src/util/bytes.ts'
import { ACCOUNTS, openTestChain } from '../../support/chain.ts'
import { POSTGRES_MISSING, startPostgres } from '../../support/explorer/postgres-server.ts'
import { senderOn, transferData } from '../../support/explorer/token-chain.ts'

vi.setConfig({ testTimeout: 300_000 })

const SCRIPT = fileURLToPath(new URL('../../support/explorer/index-process.ts', import.meta.url))
const [, BOB] = ACCOUNTS as readonly [Hex, Hex]
/** The long form kills fifty times. */
const KILLS = Number(process.env['EXPLORER_KILLS'] ?? 4)
const BLOCKS = 10 * KILLS

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

const BACK_ENDS = ['SQLite', 'PostgreSQL'] as const

describe.each(BACK_ENDS)('%s', name => {
  const reason = name === 'PostgreSQL' ? POSTGRES_MISSING : undefined
  test.skipIf(reason)(
    `an indexer that is killed again and again loses nothing and counts nothing twice${reason ? ` (${reason})` : ''}`,
    async () => {
      const seed = Number(process.env['SEED'] ?? 20_261_122)
      const random = createRandom(seed)
      const dir = mkdtempSync(join(tmpdir(), 'tandem-index-crash-'))
      const server = name === 'PostgreSQL' ? await startPostgres() : undefined
      const url = await server?.database()
      const path = join(dir, 'index.sqlite')
      try {
        const hash = await writeChain(dir)
        let kills = 0
        while (!(await runIndexer(join(dir, 'db'), url ?? path, 1 + random.below(5), random.below(12)))) {
          kills++
          expect(kills, `SEED=${seed}: it never gets to the end`).toBeLessThan(25 * KILLS)
        }
        expect(kills).toBeGreaterThanOrEqual(KILLS)
        const index = await openIndex(url ? { kind: 'postgres', url } : { kind: 'sqlite', path, ephemeral: false })
        expect(await index.position()).toEqual({ number: BLOCKS, hash })
        expect(await index.recount(), `SEED=${seed}`).toEqual([])
        expect(await index.counters()).toMatchObject({
          blocks: BLOCKS + 1,
          transactions: 2 * BLOCKS - 1,
          transfers: BLOCKS,
        })
        await index.close()
      } finally {
        await server?.close()
        rmSync(dir, { recursive: true, force: true })
      }
    },
  )
})

/** A chain with a token transfer and a plain one in each block; answers the hash of its head. */
const writeChain = async (dir: string): Promise<Hex> => {
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
  return hash
}
