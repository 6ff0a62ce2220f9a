import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type Hex, toWord } from '@tandem/base/bytes.ts'
import { createRandom } from '@tandem/base/random.ts'
import { expect, test } from 'vitest'
import { verifyLogIndex } from '../../../../src/chain/logs/log-jobs.ts'
import { readLogIndex, readPostingsKey } from '../../../../src/chain/store/log-index.ts'
import { BUCKETS } from '../../../../src/storage/buckets.ts'
import { Store } from '../../../../src/storage/store.ts'
import { ACCOUNTS } from '../../../support/chain.ts'
import { putLoggedBlock } from '../../../support/logged-chain.ts'
import { SEED } from '../../../support/seed.ts'
import { temporaryDirectory } from '../../storage/temp-store.ts'

const PROGRAM = fileURLToPath(new URL('./index-logs.ts', import.meta.url))

/** `KILLS=50 npx vitest run --project unit log-index-kills`: the long form. */
const KILLS = Number(process.env['KILLS'] ?? 4)
const ROUND_BLOCKS = 96

const idsOf = async (store: Store): Promise<Set<number>> => {
  const ids = new Set<number>()
  for await (const key of store.keys(BUCKETS.logPostings)) ids.add(readPostingsKey(key).id)
  return ids
}

test('a process killed while it indexes logs leaves an index that is right, and the next one ends it', {
  timeout: 600_000,
}, async () => {
  const random = createRandom(SEED)
  const path = await temporaryDirectory()
  let head = 0
  let earliest = 0
  let unfinished = 0
  const index = async (killMs?: number): Promise<void> => {
    const child = spawn(process.execPath, [PROGRAM, path, String(earliest)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    if (killMs !== undefined) child.stdout.once('data', () => setTimeout(() => child.kill('SIGKILL'), killMs))
    await once(child, 'close')
  }
  /** Returns true when the index has all blocks, and rows of its ranges alone. */
  const check = async (): Promise<boolean> => {
    const store = await Store.open(path)
    const problems: string[] = []
    await verifyLogIndex(store, { earliest, head }, (number, problem) => problems.push(`${number}: ${problem}`))
    expect(problems).toEqual([])
    const { ranges } = readLogIndex(store)
    const ids = await idsOf(store)
    for (const { id } of ranges) expect(ids).toContain(id)
    const covered = ranges.reduce((sum, { from, to }) => sum + to - Math.max(from, earliest, 1) + 1, 0)
    await store.close()
    return ids.size === ranges.length && covered > head - Math.max(earliest, 1) - 4
  }
  for (let kill = 0; kill < KILLS || unfinished === 0; kill++) {
    const store = await Store.open(path)
    const batch = store.batch()
    for (const last = head + ROUND_BLOCKS; head < last; ) {
      head++
      const log = { address: ACCOUNTS[head % 3] as Hex, topics: [toWord(BigInt(head % 5))], data: new Uint8Array(3) }
      putLoggedBlock(batch, head, head % 7 === 0 ? [] : ([[log, log], [log]] as never))
    }
    await batch.write()
    await store.close()
    // Ranges of dropped blocks end as well.
    if (kill % 2 === 1) earliest = head - 2 * ROUND_BLOCKS + 20
    await index(random.below(120))
    if (!(await check())) unfinished++
  }
  await index()
  expect(await check()).toBe(true)
})
