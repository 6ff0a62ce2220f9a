import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { address, word } from './memory-state.ts'
import { temporaryWorld } from './world.ts'

const ACCOUNTS = 60

test('a thread with its own handle reads whole blocks of every age while blocks commit', async () => {
  const { world, store, commit } = await opened()
  await commit()
  const reader = new Worker(new URL('./processes/reader.ts', import.meta.url), {
    workerData: { path: store.path, accounts: ACCOUNTS, back: 7 },
  })
  const wrong: string[] = []
  const done = new Promise<Record<string, number>>((resolve, reject) => {
    reader.on('error', reject)
    reader.on('message', message => {
      if ('wrong' in message) wrong.push(message.wrong)
      else resolve(message.counts)
    })
  })
  await once(reader, 'online')
  const until = performance.now() + 1_500
  while (performance.now() < until) await commit()
  reader.postMessage('stop')
  const counts = await done
  await once(reader, 'exit')
  expect(wrong).toEqual([])
  expect(world.number).toBeGreaterThan(20)
  expect(counts['heads']).toBeGreaterThan(0)
  expect(counts['older']).toBeGreaterThan(0)
  expect(counts['highest']).toBeGreaterThan(10)
})

const opened = async () => {
  const test = await temporaryWorld({ stateHistory: 6 })
  const commit = async () => {
    const journal = test.world.journal()
    const value = test.world.number + 2
    for (let i = 0; i < ACCOUNTS; i++) {
      journal.setBalance(address(i + 1), BigInt(value))
      journal.setStorage(address(i + 1), word(1), word(value))
    }
    journal.endTransaction()
    await test.commit(journal)
  }
  return { world: test.world, store: test.store, commit }
}
