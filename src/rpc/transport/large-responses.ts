import { includedReceiptsFromBlock } from '../../chain/store/included.ts'
import type { ChainBlock, ChainView, IncludedReceipt } from '../../chain/types.ts'
import { LIMITS } from '../../config/limits.ts'
import { composeStream } from '../../util/async/chunk-stream.ts'
import { sliceOver } from '../../util/async/time-slice.ts'
import type { Hex } from '../../util/bytes.ts'
import { blockPieces } from '../encode/block.ts'
import { receiptPieces } from '../encode/receipt.ts'
import { StreamedJson } from '../router/raw-json.ts'
import type { ResponseChunk } from '../router/response.ts'
import { ClientSlots, streamInTurn } from './client-slots.ts'

/** Whether the receipts of a block may be long: a log costs 375 gas and 8 for each byte, and takes half a kilobyte and two for each. */
export const mayHaveLongReceipts = ({ header }: Pick<ChainBlock, 'header'>): boolean =>
  header.gasUsed > LIMITS.rpc.largeBlockGas

/** Whether a receipt is long by itself. */
export const isLongReceipt = ({ receipt }: IncludedReceipt): boolean => {
  let bytes = 0
  for (const { data } of receipt.logs) bytes += LOG_BYTES + 2 * data.byteLength
  return bytes > LIMITS.rpc.largeAnswerBytes
}
const LOG_BYTES = 500

function* listOf<T>(items: Iterable<T>, pieces: (item: T) => Iterable<string>): Generator<string> {
  let before = '['
  for (const item of items) {
    yield before
    yield* pieces(item)
    before = ','
  }
  yield before === '[' ? '[]' : ']'
}

/**
 * Answers of megabytes, written while they are read: a few are made at a time, in slices, and what they are made of is loaded only when it
 * is their turn. So neither many of them nor a slow reader fill the memory, and none stops the thread.
 */
export class LargeResponses {
  readonly #view: ChainView
  readonly #slots = new ClientSlots(LIMITS.rpc.largeAnswers, 'large answers')

  constructor(view: ChainView) {
    this.#view = view
  }

  receipts(block: ChainBlock): StreamedJson {
    return this.#stream(async () => {
      const receipts = await this.#view.receipts(block.header.number)
      return receipts === undefined ? ['null'] : listOf(includedReceiptsFromBlock(block, receipts), receiptPieces)
    })
  }

  receipt(hash: Hex): StreamedJson {
    return this.#stream(async () => {
      const placed = await this.#view.receipt(hash)
      return placed === undefined ? ['null'] : receiptPieces(placed)
    })
  }

  /** With its transactions in full. */
  block(number: number): StreamedJson {
    return this.#stream(async () => {
      const block = await this.#view.blockByNumber(number)
      return block === undefined ? ['null'] : blockPieces(block)
    })
  }

  #stream(load: () => Promise<Iterable<string>>): StreamedJson {
    return new StreamedJson(client =>
      streamInTurn(this.#slots, client, () =>
        composeStream<ResponseChunk>(async function* () {
          yield* chunksOf(await load())
        }),
      ),
    )
  }
}

async function* chunksOf(pieces: Iterable<string>): AsyncGenerator<string> {
  let parts: string[] = []
  let length = 0
  for (const piece of pieces) {
    parts.push(piece)
    length += piece.length
    if (length > LIMITS.rpc.chunkChars) {
      yield parts.join('')
      parts = []
      length = 0
    }
    await sliceOver()
  }
  if (length > 0) yield parts.join('')
}
