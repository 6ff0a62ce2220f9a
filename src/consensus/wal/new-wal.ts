import type { Hex } from '@tandem/base/bytes.ts'
import type { BlockCodec } from '../../primitives/block.ts'
import type { FileSystem } from './file-system.ts'
import { openWal } from './wal.ts'
import { encodeHeightRecord } from './wal-records.ts'

/**
 * Creates a log that begins after a block, where there is none. Only for a lone validator on a development chain: its earlier
 * votes were for blocks that were rewound, and no other validator relies on them.
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
