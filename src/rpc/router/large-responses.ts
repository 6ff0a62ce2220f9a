import { composeStream } from '@tandem/base/async/chunk-stream.ts'
import { sliceOver } from '@tandem/base/async/time-slice.ts'
import { asBuffer, type Hex } from '@tandem/base/bytes.ts'
import { streamedReceipt } from '../../chain/store/included.ts'
import type { ChainBlock, ChainView, IncludedReceipt } from '../../chain/store/types.ts'
import { RPC_LIMITS } from '../../config/limits/clients.ts'
import { blockPieces } from '../encode/block.ts'
import { jsonData } from '../encode/hex.ts'
import { receiptPieces } from '../encode/receipt.ts'
import { RawJson, StreamedJson } from './raw-json.ts'
import { ChunkedText, cutStream, type ResponseChunk } from './response.ts'
import { createSlots, streamInTurn } from './slots.ts'

/** Returns true when a block's receipts may be long: a log costs 375 gas plus 8 a byte, and takes 512 bytes plus two for each. */
export const mayHaveLongReceipts = ({ header }: Pick<ChainBlock, 'header'>): boolean =>
  header.gasUsed > RPC_LIMITS.largeBlockGas

/** Returns true when a single receipt is long. */
export const isLongReceipt = ({ receipt }: IncludedReceipt): boolean => {
  let bytes = 0
  for (const { data } of receipt.logs) bytes += LOG_BYTES + 2 * data.byteLength
  return bytes > RPC_LIMITS.largeAnswerBytes
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

/** Returns DATA as a result; a call may return megabytes, which are encoded piece by piece while they are read. */
export const dataResult = (bytes: Uint8Array): RawJson | StreamedJson => {
  const length = bytes.byteLength
  if (length <= DATA_BYTES) return new RawJson(jsonData(bytes))
  const cut = (from: number) => {
    const end = Math.min(from + DATA_BYTES, length)
    const hex = asBuffer(bytes).hexSlice(from, end)
    return { piece: `${from === 0 ? '"0x' : ''}${hex}${end === length ? '"' : ''}`, end }
  }
  return new StreamedJson(() => cutStream(length, cut), { heldBytes: length, length: 2 * length + 4 })
}

const DATA_BYTES = RPC_LIMITS.chunkChars / 2 - 2

/** Responses of megabytes, written while they are read: a few at a time, in time slices, each loading its data when it starts. */
export class LargeResponses {
  readonly #view: ChainView
  readonly #slots = createSlots(RPC_LIMITS.largeAnswers, 'large answers')

  constructor(view: ChainView) {
    this.#view = view
  }

  receipts(block: ChainBlock): StreamedJson {
    return this.#stream(async () => {
      const receipts = await this.#view.receiptStream(block.header.number)
      return receipts === undefined ? ['null'] : listOf(receipts, receiptPieces)
    })
  }

  receipt(hash: Hex): StreamedJson {
    return this.#stream(async () => {
      const placed = await this.#view.receipt(hash)
      return placed === undefined ? ['null'] : receiptPieces(streamedReceipt(placed))
    })
  }

  /** Block with full transactions. */
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
          yield* chunksOf(await load(), client)
        }),
      ),
    )
  }
}

async function* chunksOf(pieces: Iterable<string>, client: string): AsyncGenerator<string> {
  const text = new ChunkedText()
  for (const piece of pieces) {
    yield* text.add(piece)
    await sliceOver(client)
  }
  yield* text.rest()
}
