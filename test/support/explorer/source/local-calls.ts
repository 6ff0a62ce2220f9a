import { ZERO_HASH } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import type { ContractCall, HeadCalls } from '@tandem/explorer/chain/chain-source.ts'
import type { ChainBlock } from '../../../../src/chain/store/types.ts'
import type { BlockEnv } from '../../../../src/evm/block-env.ts'
import { loadEngine } from '../../../../src/evm/engines/select-engine.ts'
import { openStateReader } from '../../../../src/state/history/stored-state.ts'
import { callContract } from './engine-call.ts'
import type { LocalChain } from './local-chain.ts'

/** Calls on the head's state, for the thread that fills the index: the engine is large, and no other thread loads it. */
export class LocalCalls implements HeadCalls {
  readonly #source: LocalChain
  readonly #engine = loadEngine('wasm')

  constructor(source: LocalChain) {
    this.#source = source
  }

  /** undefined: the state is not there, or the head moved while it was opened. */
  async run<T>(work: (call: ContractCall) => Promise<T>): Promise<T | undefined> {
    const { blocks, store } = this.#source
    const number = await blocks.headNumber()
    const head = number === undefined ? undefined : await blocks.block(number)
    if (head === undefined) return undefined
    const state = await openStateReader(store, head.header.number).catch((error: unknown) => {
      if (isCoded(error) && error.code === 'MISSING_STATE') return undefined
      throw error
    })
    if (state === undefined) return undefined
    try {
      if (state.sync === undefined) return undefined
      const site = { reader: state.sync, env: this.#envOf(head), engine: await this.#engine }
      return await work((to, data) => callContract(site, to, data))
    } finally {
      state.release()
    }
  }

  /** The head as calls see it; the random word and the payees of fees, on which no view of a token depends, are left out. */
  #envOf({ header, extra }: ChainBlock): BlockEnv {
    const { blocks, params } = this.#source
    return {
      params,
      number: header.number,
      timestamp: header.timestamp,
      gasLimit: header.gasLimit,
      baseFeePerGas: header.baseFeePerGas ?? 0n,
      miner: header.miner,
      proposerReward: extra.proposer,
      foundation: extra.proposer,
      prevRandao: ZERO_HASH,
      blockHash: number => (number < header.number ? (blocks.hashOf(number) ?? ZERO_HASH) : ZERO_HASH),
    }
  }
}
