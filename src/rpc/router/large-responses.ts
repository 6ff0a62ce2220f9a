import { composeStream } from '@tandem/base/async/chunk-stream.ts'
import { sliceOver } from '@tandem/base/async/time-slice.ts'
import { asBuffer, EMPTY_BYTES, type Hex } from '@tandem/base/bytes.ts'
import { streamedReceipt } from '../../chain/store/included.ts'
import type { ChainBlock, ChainView, IncludedReceipt } from '../../chain/store/types.ts'
import { RPC_LIMITS } from '../../config/limits/clients.ts'
import { blockPieces } from '../encode/block.ts'
import { jsonData } from '../encode/hex.ts'
import { receiptPieces } from '../encode/receipt.ts'
import { RawJson, StreamedJson } from './raw-json.ts'
import type { ResponseChunk, ResponseStream } from './response.ts'
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
export const dataResult = (bytes: Uint8Array): RawJson | StreamedJson =>
  bytes.byteLength <= DATA_BYTES
    ? new RawJson(jsonData(bytes))
    : new StreamedJson(() => dataStream(bytes), { heldBytes: bytes.byteLength, length: 2 * bytes.byteLength + 4 })

const DATA_BYTES = RPC_LIMITS.chunkChars / 2 - 2

const dataStream = (bytes: Uint8Array): ResponseStream => {
  let rest = bytes
  let before = '"0x'
  return {
    get heldBytes() {
      return rest.byteLength
    },
    async next() {
      if (rest.byteLength === 0) return undefined
      const piece = asBuffer(rest).hexSlice(0, Math.min(DATA_BYTES, rest.byteLength))
      rest = rest.subarray(DATA_BYTES)
      const text = `${before}${piece}${rest.byteLength === 0 ? '"' : ''}`
      before = ''
      return text
    },
    cancel() {
      rest = EMPTY_BYTES
    },
  }
}

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
  let parts: string[] = []
  let length = 0
  for (const piece of pieces) {
    parts.push(piece)
    length += piece.length
    if (length > RPC_LIMITS.chunkChars) {
      yield parts.join('')
      parts = []
      length = 0
    }
    await sliceOver(client)
  }
  if (length > 0) yield parts.join('')
}
