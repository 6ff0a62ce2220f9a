import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { createRandom, type Random } from '@tandem/base/random.ts'
import { openIndex } from '@tandem/explorer/store/open-index.ts'
import type { SqlReader } from '@tandem/explorer/store/sql/sql-reader.ts'
import { describe, expect, test, vi } from 'vitest'
import { ACCOUNTS, openTestChain } from '../../support/chain.ts'
import { POSTGRES_MISSING, startPostgres } from '../../support/explorer/postgres-server.ts'
import { indexerOf, senderOn, transferData } from '../../support/explorer/token-chain.ts'
import { recount } from './recount.ts'

vi.setConfig({ testTimeout: 3_600_000 })

const SCRIPT = fileURLToPath(new URL('./index-process.ts', import.meta.url))
const [, BOB] = ACCOUNTS as readonly [Hex, Hex]
const BOB_WORD = toWord(BigInt(BOB)).slice(2)
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
        const { hash, counters } = await writeChain(dir, random)
        let kills = 0
        while (!(await runIndexer(join(dir, 'db'), url ?? path, 1 + random.below(5), random.below(12)))) {
          kills++
          expect(kills, `SEED=${seed}: it never gets to the end`).toBeLessThan(25 * KILLS)
        }
        expect(kills).toBeGreaterThanOrEqual(KILLS)
        const index = await openIndex(url ? { kind: 'postgres', url } : { kind: 'sqlite', path, ephemeral: false })
        expect(await index.position()).toEqual({ number: BLOCKS, hash })
        expect(await recount(index), `SEED=${seed}`).toEqual([])
        expect(await index.counters(), `SEED=${seed}`).toEqual(counters)
        expect(counters.internal).toBeGreaterThan(0)
        await index.close()
      } finally {
        await server?.close()
        rmSync(dir, { recursive: true, force: true })
      }
    },
  )
})

/** A chain of random transactions; answers the hash of its head, and what an index counts that is built in one go. */
const writeChain = async (
  dir: string,
  random: Random,
): Promise<{ hash: Hex; counters: Awaited<ReturnType<SqlReader['counters']>> }> => {
  const chain = await openTestChain(dir)
  const alice = senderOn(chain)
  const [coin, purse, factory] = [
    await alice.deploy('Coin'),
    await alice.deploy('Purse'),
    await alice.deploy('Factory'),
  ]
  const load: readonly (() => Promise<unknown>)[] = [
    () => alice.submit({ to: BOB, value: 1n, gasLimit: 21_000n }),
    () => alice.submit({ to: coin, data: transferData(BOB, BigInt(random.below(50))), gasLimit: 200_000n }),
    () => alice.submit({ to: factory, data: hexToBytes('0xc6dad082') }),
    // Wei that is passed on, and wei that a failing frame gives back.
    () => alice.submit({ to: purse, value: 3n, data: hexToBytes(`0x82c4b3b2${BOB_WORD}`), gasLimit: 200_000n }),
    () => alice.submit({ to: purse, value: 3n, data: hexToBytes(`0xe8199063${BOB_WORD}`), gasLimit: 200_000n }),
  ]
  while (chain.chain.headBlock.header.number < BLOCKS) {
    for (let count = random.below(5); count > 0; count--) await load[random.below(load.length)]?.()
    await chain.mine()
  }
  const { hash } = chain.chain.headBlock
  const { index, catchUp } = indexerOf(chain)
  await catchUp()
  const counters = await index.counters()
  await index.close()
  await chain.close()
  return { hash, counters }
}
