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
  let counts = { heads: 0, older: 0, highest: 0 }
  reader.on('message', message => {
    if ('wrong' in message) wrong.push(message.wrong)
    else counts = message.counts
  })
  // Rejects with an error of the thread.
  await once(reader, 'online')
  const exited = once(reader, 'exit')
  const hasReadAll = () => counts.heads > 0 && counts.older > 0 && counts.highest > 10
  while (wrong.length === 0 && !(world.number > 20 && hasReadAll())) await commit()
  reader.postMessage('stop')
  await exited
  expect(wrong).toEqual([])
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
