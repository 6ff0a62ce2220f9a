import { parentPort, workerData } from 'node:worker_threads'
import { isCoded } from '@tandem/base/errors.ts'
import { openStateReader } from '../../../../src/state/history/stored-state.ts'
import { readStateMeta } from '../../../../src/state/state-meta.ts'
import { Store } from '../../../../src/storage/store.ts'
import { address, word } from '../memory-state.ts'

/** A thread that reads states of all ages while another commits; posts what does not fit, and after each state how much it read. */
const { path, accounts, back } = workerData as { path: string; accounts: number; back: number }
const port = parentPort as NonNullable<typeof parentPort>
const store = await Store.open(path)
let stopping = false
port.on('message', () => {
  stopping = true
})
const counts = { heads: 0, older: 0, pruned: 0, highest: 0 }
let depth = 0
while (!stopping) {
  const newest = (await readStateMeta(store))?.number ?? 0
  const number = Math.max(0, newest - (depth++ % back))
  try {
    const reader = await openStateReader(store, number)
    counts.highest = Math.max(counts.highest, reader.headNumber)
    for (let i = 0; i < accounts; i += 7) {
      const balance = (reader.sync?.account(address(i + 1)) ?? (await reader.account(address(i + 1))))?.balance
      const slot = reader.sync?.storage(address(i + 1), word(1)) ?? (await reader.storage(address(i + 1), word(1)))
      if (balance !== BigInt(number + 1) || slot !== word(number + 1)) {
        port.postMessage({ wrong: `block ${number} account ${i}: ${balance} ${slot}` })
      }
    }
    if (reader.sync === undefined) counts.older++
    else counts.heads++
    reader.release()
  } catch (error) {
    if (!isCoded(error) || error.code !== 'MISSING_STATE') throw error
    counts.pruned++
  }
  port.postMessage({ counts })
  await new Promise(resolve => setImmediate(resolve))
}
await store.close()
port.close()
