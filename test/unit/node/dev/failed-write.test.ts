import { expect, test } from 'vitest'
import { DevEngine } from '../../../../src/node/dev/dev-engine.ts'
import { storeError } from '../../../../src/storage/errors.ts'

const rig = () => {
  const fatal: Error[] = []
  let starts = 0
  class CountedEngine extends DevEngine {
    override async start(): Promise<void> {
      starts++
    }
  }
  const engine = new CountedEngine({ onFatal: (error: Error) => fatal.push(error) } as never)
  return { engine, fatal, starts: () => starts }
}

test('after a failed write no block is decided: what is on the disk is known at the next start only', async () => {
  const { engine, fatal, starts } = rig()
  const failed = storeError({ code: 'STORE_WRITE_FAILED', path: '/data/db', reason: 'no space left' })
  await expect(engine.without(() => Promise.reject(failed))).rejects.toBe(failed)
  expect([fatal, starts()]).toEqual([[failed], 0])
  await engine.stop()
})

test('work that fails otherwise is followed by another engine', async () => {
  const { engine, fatal, starts } = rig()
  await expect(engine.without(() => Promise.reject(new Error('too far')))).rejects.toThrow('too far')
  expect([fatal, starts()]).toEqual([[], 1])
  await engine.stop()
})
