import type { BlockCodec } from '../../primitives/block-codec.ts'
import type { Hex } from '../../util/bytes.ts'
import type { FileSystem } from './file-system.ts'
import { openWal } from './wal.ts'
import { encodeHeightRecord } from './wal-records.ts'

/**
 * Writes a log that begins after a block, where there is none. Only for a validator that decides alone on a development chain: its
 * earlier votes were for blocks that are no more, and nobody holds it to them.
 */
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
