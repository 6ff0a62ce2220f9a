import { Cancelled } from '@tandem/base/async/cancellation.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { expect, test } from 'vitest'
import { DevMiner, type MineOptions } from '../../../../src/chain/dev/dev-miner.ts'
import { DevTime } from '../../../../src/chain/dev/dev-time.ts'
import type { ChainBlock, CommittedEvent } from '../../../../src/chain/store/types.ts'

const NOW_MS = 1_800_000_000_000

/** Clock that is moved by hand; what was due runs on the way. */
class HandClock {
  #nowMs = NOW_MS
  readonly #due = new Set<{ readonly atMs: number; readonly run: () => void }>()

  nowMs(): number {
    return this.#nowMs
  }

  schedule(atMs: number, run: () => void): () => void {
    const entry = { atMs, run }
    this.#due.add(entry)
    return () => void this.#due.delete(entry)
  }

  async pass(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms
    for (;;) {
      await new Promise(setImmediate)
      const next = [...this.#due].filter(({ atMs }) => atMs <= endMs).sort((a, b) => a.atMs - b.atMs)[0]
      if (next === undefined) break
      this.#due.delete(next)
      this.#nowMs = Math.max(this.#nowMs, next.atMs)
      next.run()
    }
    this.#nowMs = endMs
  }
}

/** A miner over a chain of headers, whose engine makes a block when it is due. */
const begin = async (blockTimeMs: number) => {
  const clock = new HandClock()
  const time = new DevTime(clock)
  const blocks: { readonly number: number; readonly timestamp: number; readonly madeMs: number }[] = []
  let listener: (event: CommittedEvent) => void = () => {}
  const head = () => blocks.at(-1) ?? { number: 0, timestamp: NOW_MS / 1_000, madeMs: 0 }
  const miner: DevMiner = new DevMiner({
    chain: {
      get headBlock() {
        return { header: head() } as unknown as ChainBlock
      },
      onCommitted(listen) {
        listener = listen
        return () => {}
      },
    },
    engine: {
      isAlone: true,
      makeBlocks: () => Promise.reject(new Error('not here')),
      requestBlock(dueMs = 0) {
        clock.schedule(Math.max(dueMs, clock.nowMs()), () => {
          const { number, timestamp } = head()
          blocks.push({ number: number + 1, timestamp: miner.timestampAfter(timestamp), madeMs: clock.nowMs() })
          listener({ block: { header: head() }, receipts: [] } as unknown as CommittedEvent)
        })
      },
    },
    pool: { hasExecutable: () => false },
    time,
    blockTimeMs,
    sameTimestamps: false,
    clock,
    logger: silentLogger,
  })
  await miner.start(async () => {})
  return { clock, time, miner, blocks }
}

test.each([0, 1, 2, 3_600])('timestamps %d s apart leave the pace to the clock on the wall', async step => {
  for (const everyMs of [1_000, 5_000, 250]) {
    const { clock, time, miner, blocks } = await begin(everyMs)
    await clock.pass(2 * everyMs)
    time.setInterval(step)
    miner.setMode({})
    const before = blocks.length
    await clock.pass(20 * everyMs)
    const made = blocks.slice(before)
    expect(made).toHaveLength(20)
    for (const [i, block] of made.slice(1).entries()) {
      const last = made[i]
      expect([block.timestamp - (last?.timestamp ?? 0), block.madeMs - (last?.madeMs ?? 0)]).toEqual([step, everyMs])
    }
    // Without the step the timestamps are those of the clock again, which is never behind them.
    time.setInterval(undefined)
    miner.setMode({})
    await clock.pass(10 * everyMs)
    const after = blocks.slice(before + 20)
    expect(after.length).toBeGreaterThanOrEqual(9)
    expect(after.length).toBeLessThanOrEqual(11)
    miner.stop()
  }
})

test('blocks without a step of their own come at their time', async () => {
  for (const everyMs of [1_000, 5_000, 250]) {
    const { clock, blocks } = await begin(everyMs)
    await clock.pass(20 * everyMs)
    const gaps = blocks.slice(1).map(({ madeMs }, i) => madeMs - (blocks[i]?.madeMs ?? 0))
    expect(new Set(gaps)).toEqual(new Set([everyMs]))
    expect(blocks.length).toBeGreaterThanOrEqual(20)
  }
})

test('work that waits for a block is not done when the miner stops: the block may be decided all the same', async () => {
  const { clock, miner } = await begin(1_000)
  const mined = miner.mine({ blocks: 1 } as MineOptions).catch(() => undefined)
  const worked: string[] = []
  const waiting = miner.run(async () => worked.push('edit'))
  // The engine has the request, and its block is due at the next turn of the clock.
  miner.stop()
  await expect(waiting).rejects.toBeInstanceOf(Cancelled)
  await expect(miner.run(async () => worked.push('later'))).rejects.toBeInstanceOf(Cancelled)
  await clock.pass(5_000)
  await mined
  expect(worked).toEqual([])
})
