import { copyBytes, type Hex, ZERO_ADDRESS, ZERO_HASH } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import type { ContractCall } from '@tandem/explorer/indexer/token-metadata.ts'
import { EXPLORER_LIMITS } from '@tandem/explorer/limits.ts'
import type { ChainBlock } from '../../../../src/chain/store/types.ts'
import type { BlockEnv } from '../../../../src/evm/block-env.ts'
import { prepareCall, runCall as runPrepared } from '../../../../src/evm/calls/message/call-message.ts'
import type { Engine, Interrupt } from '../../../../src/evm/engine.ts'
import { loadEngine } from '../../../../src/evm/engines/select-engine.ts'
import { openStateReader } from '../../../../src/state/history/stored-state.ts'
import type { StateReader } from '../../../../src/state/state-reader.ts'
import type { LocalChain } from './local-chain.ts'

/** Calls on the head's state; undefined where it is not there, or the head moved while it was opened. */
export const localCall = (source: LocalChain): ContractCall => {
  const { blocks, store } = source
  const engine = loadEngine('wasm')
  return async (to, data) => {
    const number = await source.headNumber()
    const head = number === undefined ? undefined : await blocks.block(number)
    if (head === undefined) return undefined
    const state = await openStateReader(store, head.header.number).catch((error: unknown) => {
      if (isCoded(error) && error.code === 'MISSING_STATE') return undefined
      throw error
    })
    try {
      if (state?.sync === undefined) return undefined
      return await callContract({ reader: state.sync, env: envOf(source, head), engine: await engine }, to, data)
    } finally {
      state?.release()
    }
  }
}

/** The head as calls see it; the random word and the payees of fees, on which no view of a token depends, are left out. */
const envOf = ({ blocks, params }: LocalChain, { header, extra }: ChainBlock): BlockEnv => ({
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
})

/** State and block that calls of the explorer see. */
interface CallSite {
  readonly reader: StateReader
  readonly env: BlockEnv
  readonly engine: Engine
}

/** Result of a call to a contract; undefined when it fails, or takes too much gas, time or bytes. Never throws because of the contract. */
const callContract = async (site: CallSite, to: Hex, data: Uint8Array): Promise<Uint8Array | undefined> => {
  const { gas, callMs, answerBytes } = EXPLORER_LIMITS.token
  const deadlineMs = performance.now() + callMs
  const interrupt: Interrupt = {
    sliceMs: callMs / 5,
    giveWay: async () => {},
    shouldStop: () => performance.now() >= deadlineMs,
  }
  const message = { from: ZERO_ADDRESS, to, value: 0n, data, gas }
  try {
    const prepared = await prepareCall(
      { ...site, prefetch: undefined, interrupt },
      { message, number: site.env.number },
    )
    const { output, failure } = await runPrepared(prepared, gas)
    return failure === null && output.byteLength <= answerBytes ? copyBytes(output) : undefined
  } catch (error) {
    if (isCoded(error)) return undefined
    throw error
  }
}
