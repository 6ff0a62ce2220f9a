import { EMPTY_BYTES } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import { SNAPSHOT_BOUNDS } from '../../../config/protocol-bounds.ts'
import { encodeRlp, encodeRlpList, uintItem } from '../../../primitives/rlp/rlp.ts'
import { type RlpCursor, readWholeList } from '../../../primitives/rlp/rlp-cursor.ts'
import { falseSnapshot } from '../../../state/snapshot/records.ts'
import type { Batch } from '../../../storage/batch.ts'
import { BUCKETS } from '../../../storage/buckets.ts'
import { numberKey, readNumber } from '../../../storage/keys.ts'
import type { Store } from '../../../storage/store.ts'
import { decodeCouncil, readCycleRow } from '../../council/council-rows.ts'

/*
 * Council records as chunks of a snapshot: RLP of [block number, cycle row, council row or empty] for each cycle that ended between
 * genesis and the snapshot's block, both excluded, in order. They determine the valid sealers of blocks after the snapshot, and the
 * validators that evidence accuses. The state of the snapshot's block commits to them (rules/council/council-storage.ts).
 */

/** Yields the records below block `number`; equal rows give equal chunks on every node. */
export async function* recordChunks(store: Store, number: number): AsyncGenerator<Uint8Array> {
  let rows: Uint8Array[] = []
  let bytes = 0
  for await (const [key, cycle] of store.entries(BUCKETS.cycle, { gt: numberKey(0), lt: numberKey(number) })) {
    const council = store.getSync(BUCKETS.council, key) ?? EMPTY_BYTES
    const item = encodeRlp([uintItem(readNumber(key)), cycle, council])
    if (bytes + item.byteLength > SNAPSHOT_BOUNDS.chunkBytes && rows.length > 0) {
      yield encodeRlpList(rows)
      rows = []
      bytes = 0
    }
    rows.push(item)
    bytes += item.byteLength
  }
  if (rows.length > 0) yield encodeRlpList(rows)
}

/** Adds a chunk's rows of cycles' ends below `below` to the batch, verified once all are there (staging.ts). Throws SNAPSHOT_FALSE. */
export const putRecords = (
  batch: Batch,
  chunk: Uint8Array,
  { below, cycleBlocks }: { readonly below: number; readonly cycleBlocks: number },
): void => {
  try {
    readWholeList(chunk, cursor => {
      while (cursor.hasMore()) {
        const [number, cycle, council] = readRecord(cursor)
        if (number === 0 || number >= below || number % cycleBlocks !== 0)
          throw falseSnapshot(`a record of block ${number}, which ends no cycle below ${below}`)
        batch.put(BUCKETS.cycle, numberKey(number), cycle)
        if (council.byteLength > 0) batch.put(BUCKETS.council, numberKey(number), council)
      }
    })
  } catch (error) {
    if (!isCoded(error) || error.code === 'SNAPSHOT_FALSE') throw error
    throw falseSnapshot(`a record that is none: ${error.message}`)
  }
}

const readRecord = (cursor: RlpCursor): readonly [number: number, cycle: Uint8Array, council: Uint8Array] => {
  const record = cursor.list(() => [cursor.safeUint(), cursor.bytes(), cursor.bytes()] as const)
  const [, cycle, council] = record
  readCycleRow(cycle)
  if (council.byteLength > 0) decodeCouncil(council)
  return record
}
