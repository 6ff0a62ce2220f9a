import { WorkerClient } from '@tandem/base/worker/worker-client.ts'
import { Store } from '../../../../src/storage/store.ts'
import type { StoreMethods } from './store-worker.ts'

/* Process that closes workers in the middle of their reads, and then the store. LevelDB ends it by a signal when an iterator is left. */
const [path = '', rounds = '1'] = process.argv.slice(2)
const store = await Store.open(path)
const batch = store.batch()
for (let i = 0; i < 1_000; i++) batch.put(1, Buffer.from(String(i)), Buffer.alloc(100))
await batch.write()

const closeInScan = async (): Promise<void> => {
  const url = new URL('./store-worker.ts', import.meta.url)
  const client = new WorkerClient<StoreMethods>({ name: 'reader', url, data: path, hasStore: true })
  const scan = client.call('scan').catch(() => 'closed')
  await client.call('ready')
  await client.close()
  process.stdout.write(`${await scan} `)
}
for (let i = 0; i < Number(rounds); i++) await Promise.all([closeInScan(), closeInScan()])
await store.close()
process.stdout.write('done')
