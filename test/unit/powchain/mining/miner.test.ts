import { type Hex, toWord, ZERO_HASH } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { expect, onTestFinished, test } from 'vitest'
import { Miner, type MinerWork, type WorkSource } from '../../../../src/powchain/mining/miner.ts'
import { ManualClock } from '../../../support/consensus/manual-clock.ts'

/** Every nonce solves it. */
const easy: MinerWork = { sealHash: ZERO_HASH, version: 1, target: 2n ** 256n - 1n }

test('a miner whose solution is refused takes other work at once, and the same again after a second', async () => {
  const clock = new ManualClock()
  const refused: Hex[] = []
  let work = easy
  const source: WorkSource = {
    job: () => work,
    async submitWork(_nonce, sealHash) {
      refused.push(sealHash)
      return false
    },
  }
  const miner = new Miner({ source, threads: 1, duty: 1, clock, logger: silentLogger })
  onTestFinished(() => miner.stop())
  miner.start()
  await expect.poll(() => clock.nextMs).toBeDefined()
  miner.refresh()
  expect(refused).toEqual([ZERO_HASH])
  work = { ...easy, sealHash: toWord(1n) }
  miner.refresh()
  await expect.poll(() => refused).toEqual([ZERO_HASH, toWord(1n)])
  await clock.advance(1_000)
  await expect.poll(() => refused).toEqual([ZERO_HASH, toWord(1n), toWord(1n)])
})
