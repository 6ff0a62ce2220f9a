import { silentLogger } from '@tandem/base/logger.ts'
import { TrieService } from '../../../../src/state/trie/trie-service.ts'
import { WorldState } from '../../../../src/state/world/world-state.ts'
import { BUCKETS } from '../../../../src/storage/buckets.ts'
import { numberKey } from '../../../../src/storage/keys.ts'
import { Store } from '../../../../src/storage/store.ts'
import { fakeHeader } from '../fake-header.ts'
import { address, word } from '../memory-state.ts'

/** Commits blocks until it is killed or a write fails; says on stdout which block is durable, and why it ended. */
const [path] = process.argv.slice(2)
const store = await Store.open(path as string, { writeBufferBytes: 64 * 1024 })
const trie = await TrieService.open({ worker: false })
const world = await WorldState.open({ store, trie, logger: silentLogger, stateHistory: 5 })
try {
  for (;;) {
    const number = world.number + 1
    const journal = world.journal()
    // The same accounts in every block: a torn block would mix balances of two.
    for (let i = 0; i < 100; i++) {
      journal.setBalance(address(i + 1), BigInt(number + 1))
      journal.setStorage(address(i + 1), word(number % 3), word(number + 1))
    }
    journal.endTransaction()
    const update = await world.computeUpdate(journal.changes(), world.root)
    const batch = store.batch()
    batch.put(BUCKETS.header, numberKey(number), fakeHeader(update.root))
    await world.write(batch, number, update)
    await batch.write()
    process.stdout.write(`${number}\n`)
    await world.committed(number, update)
  }
} catch (error) {
  process.stdout.write(`${error instanceof Error && 'code' in error ? error.code : error}\n`)
  process.exit(1)
}
