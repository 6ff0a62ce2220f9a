import { BlockStore } from '../../chain/store/block-store.ts'
import type { ChainParams } from '../../config/networks.ts'
import { openStateReader } from '../../state/history/stored-state.ts'
import type { AsyncStateReader } from '../../state/state-reader.ts'
import type { Store } from '../../storage/store.ts'
import type { Hex } from '../../util/bytes.ts'
import type { BlockRecord } from '../store/records.ts'
import { recordOfBlock } from './block-record.ts'

/** The committed chain as the explorer's threads read it, from the node's database. */
export class ChainSource {
  readonly blocks: BlockStore
  readonly #store: Store
  readonly #params: ChainParams

  constructor(store: Store, params: ChainParams) {
    this.#store = store
    this.#params = params
    this.blocks = new BlockStore(store)
  }

  get params(): ChainParams {
    return this.#params
  }

  get store(): Store {
    return this.#store
  }

  headNumber(): Promise<number | undefined> {
    return this.blocks.headNumber()
  }

  /** Returns true when a block is part of the current chain. */
  async includes(number: number, hash: Hex): Promise<boolean> {
    return (await this.blocks.numberOf(hash)) === number
  }

  /** undefined: it is not there, or not yet. */
  async record(number: number): Promise<BlockRecord | undefined> {
    const block = await this.blocks.block(number)
    const receipts = block && (await this.blocks.receipts(number))
    return block && receipts && recordOfBlock(block, receipts, this.#params)
  }

  /** Lends the head's state. */
  async onState<T>(work: (state: AsyncStateReader) => T | Promise<T>): Promise<T> {
    const state = await openStateReader(this.#store, (await this.blocks.headNumber()) ?? 0)
    try {
      return await work(state)
    } finally {
      state.release()
    }
  }

  /** Clears the caches, after blocks were reverted or to free memory. */
  forget(): void {
    this.blocks.forget()
  }
}
