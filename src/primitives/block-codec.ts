import type { AsyncCodec } from '@tandem/base/async/async-codec.ts'
import type { Block } from './block.ts'

/** Codec of whole blocks. Decoding recovers senders, hence off the main thread. Rejects with CodedError on malformed bytes. */
export type BlockCodec = AsyncCodec<Block>
