import { moveSegment } from '../../../src/storage/move-segment.ts'
import { Store } from '../../../src/storage/store.ts'

/* Program of tests: moves so many segments, one by default, until it is killed or a write fails. */

const [path, count = '1'] = process.argv.slice(2)
const store = await Store.open(path as string, { writeBufferBytes: 64 * 1024 })
process.stdout.write('open\n')
for (let left = Number(count); left > 0; left--) await moveSegment(store)
await store.close()
