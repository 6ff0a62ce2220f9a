import { includedReceiptsFromBlock } from '../../../chain/store/included.ts'
import type { ChainView } from '../../../chain/types.ts'
import { receiptJson } from '../../encode/receipt.ts'
import { RawJson } from '../../router/raw-json.ts'

/** Receipts of the pending block as they would be if it were sealed now. */
export const pendingReceiptsJson = async (view: ChainView): Promise<RawJson> => {
  const { block, receipts } = await view.pending()
  return new RawJson(`[${includedReceiptsFromBlock(block, receipts).map(receiptJson).join(',')}]`)
}
