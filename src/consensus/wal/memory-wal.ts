import type { Hex } from '@tandem/base/bytes.ts'
import type { BlockCodec } from '../../primitives/block.ts'
import type { FileSystem } from './file-system.ts'
import { openWal, type Wal } from './wal.ts'
import { encodeHeightRecord } from './wal-records.ts'
import { checkWatermark, type LastSignature, type Watermark } from './watermark.ts'

const nothing = async (): Promise<void> => {}

/* Log and watermark of a validator whose chain ends with its process: its signatures bind nothing afterwards. */

export const memoryWal = (): Wal => ({
  condition: 'sound',
  takeEntries: () => [],
  append: () => {},
  isDirty: false,
  take: () => nothing,
  sizeBytes: 0,
  reset: nothing,
  discard: nothing,
  close: nothing,
})

export const memoryWatermark = (): Watermark => {
  let last: LastSignature | null = null
  return {
    condition: 'sound',
    get last() {
      return last
    },
    check: (position, digest) => checkWatermark(last, position, digest),
    advance(mark) {
      last = mark
    },
    isDirty: false,
    create: nothing,
    take: () => nothing,
    close: nothing,
  }
}

/** Creates a log that begins after a block: only for a lone development validator, on whose rewound votes nobody relies. */
export const createWalAfter = async (
  files: FileSystem,
  path: string,
  head: { readonly number: number; readonly hash: Hex },
  blocks: BlockCodec,
): Promise<void> => {
  const wal = await openWal(files, path)
  if (wal.condition === 'missing')
    await wal.reset([encodeHeightRecord({ type: 'end', number: head.number, blockHash: head.hash }, blocks)])
  await wal.close()
}
