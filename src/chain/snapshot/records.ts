import { LIMITS } from '../../config/limits.ts'
import { decodeRlpList, encodeRlp, encodeRlpList, uintItem } from '../../primitives/rlp.ts'
import { falseSnapshot } from '../../state/snapshot/errors.ts'
import type { Batch } from '../../storage/batch.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import { numberKey, readNumber } from '../../storage/keys.ts'
import type { Snapshot, Store } from '../../storage/store.ts'
import { bytesToBigint } from '../../util/bytes.ts'

/*
 * What a chain keeps for good beside blocks and state, as chunks of a snapshot: the councils and how their members stood after each
 * cycle. Without it nobody could say who may seal the blocks after the snapshot, or whom old evidence accuses. A chunk is the RLP of
 * [bucket, block number, row] for each row; the same rows make the same chunks on every node.
 */
const KEPT = [BUCKETS.council, BUCKETS.cycle] as const

/** The rows of blocks up to `number`. */
export async function* recordChunks(store: Store, number: number, snapshot?: Snapshot): AsyncGenerator<Uint8Array> {
  let rows: Uint8Array[] = []
  let bytes = 0
  for (const bucket of KEPT) {
    for await (const [key, row] of store.entries(bucket, {
      lt: numberKey(number + 1),
      ...(snapshot && { snapshot }),
    })) {
      const item = encodeRlp([uintItem(bucket), uintItem(readNumber(key)), row])
      if (bytes + item.byteLength > LIMITS.snapshot.chunkBytes && rows.length > 0) {
        yield encodeRlpList(rows)
        rows = []
        bytes = 0
      }
      rows.push(item)
      bytes += item.byteLength
    }
  }
  if (rows.length > 0) yield encodeRlpList(rows)
}

/** Queues the rows of a chunk. Throws SNAPSHOT_FALSE. Whether they are true the blocks that follow will tell. */
export const putRecords = (batch: Batch, chunk: Uint8Array, upTo: number): number => {
  const rows = decodeRlpList(chunk)
  for (const item of rows) {
    const [bucket, number, row] = item as readonly (Uint8Array | undefined)[]
    if (!(bucket instanceof Uint8Array && number instanceof Uint8Array && row instanceof Uint8Array))
      throw falseSnapshot('a record that is no row')
    const at = numberOf(number)
    if (!KEPT.some(kept => kept === bucket[0]) || bucket.byteLength !== 1 || !(at <= upTo))
      throw falseSnapshot('a record of another table or block')
    batch.put(bucket[0] as number, numberKey(at), row)
  }
  return rows.length
}

const numberOf = (item: Uint8Array): number => (item.byteLength > 6 ? Number.NaN : Number(bytesToBigint(item)))
