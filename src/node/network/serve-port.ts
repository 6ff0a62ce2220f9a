import { sliceOver } from '@tandem/base/async/time-slice.ts'
import type { BlockStore } from '../../chain/store/block-store.ts'
import type { SealedBlock } from '../../network/messages/consensus-messages.ts'
import type { ServePort } from '../../network/messages/ports.ts'
import { encodeReceipt, type Receipt } from '../../primitives/receipt/receipt.ts'
import { encodeRlp } from '../../primitives/rlp/rlp.ts'

/** Serves peers from the database: blocks with certificates, receipts as RLP lists of strings; at least one item, yielding between. */
export const servePort = (
  blocks: Pick<BlockStore, 'encoded' | 'certificate' | 'numberOf' | 'receipts'>,
): ServePort => ({
  async blocks({ from, count }, maxBytes) {
    const numbers = Array.from({ length: count }, (_, at) => from + at)
    return gather(
      numbers,
      maxBytes,
      ({ block }: SealedBlock) => block.byteLength,
      async number => {
        const [block, certificate] = await Promise.all([blocks.encoded(number), blocks.certificate(number)])
        return block && certificate && { block, certificate }
      },
    )
  },
  receipts: (hashes, maxBytes) =>
    gather(
      hashes,
      maxBytes,
      (encoded: Uint8Array) => encoded.byteLength,
      async hash => {
        const number = await blocks.numberOf(hash)
        const receipts = number === undefined ? undefined : await blocks.receipts(number)
        return receipts && encodeReceipts(receipts)
      },
    ),
})

const encodeReceipts = async (receipts: readonly Receipt[]): Promise<Uint8Array> => {
  const encoded: Uint8Array[] = []
  for (const receipt of receipts) {
    encoded.push(encodeReceipt(receipt))
    const pause = sliceOver()
    if (pause !== undefined) await pause
  }
  return encodeRlp(encoded)
}

/** Reads in order up to the first item that is missing or does not fit. */
const gather = async <Key, Item>(
  keys: readonly Key[],
  maxBytes: number,
  sizeOf: (item: Item) => number,
  read: (key: Key) => Promise<Item | undefined>,
): Promise<readonly Item[]> => {
  const items: Item[] = []
  let bytes = 0
  for (const key of keys) {
    const item = await read(key)
    if (item === undefined) break
    bytes += sizeOf(item)
    if (bytes > maxBytes && items.length > 0) break
    items.push(item)
    const pause = sliceOver()
    if (pause !== undefined) await pause
  }
  return items
}
