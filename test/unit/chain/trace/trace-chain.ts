import { assert } from '@tandem/base/assert.ts'
import { concatBytes, type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { createTraces } from '../../../../src/node/parts/reads.ts'
import type { Block } from '../../../../src/primitives/block.ts'
import { createAddress } from '../../../../src/primitives/receipt/address.ts'
import type { UnsignedTransaction } from '../../../../src/primitives/transaction/transaction-encoding.ts'
import { DEFAULT_TRACE } from '../../../../src/rpc/codecs/trace.ts'
import type { TraceAnswer, TracedBlock } from '../../../../src/rpc/ports.ts'
import { ACCOUNT_KEYS, ACCOUNTS, signedRaw, type TestChain, withChain } from '../../../support/chain.ts'
import { deployer } from '../../evm/world.ts'

/** SSTORE of two words of call data: value, slot. */
export const WRITER = hexToBytes('0x5f356020355500')
/** Counts for ever. */
export const LOOP = hexToBytes('0x5f5b6001018050600156')

export const writeCall = (slot: bigint, value: bigint): Uint8Array =>
  concatBytes(hexToBytes(toWord(value)), hexToBytes(toWord(slot)))

const KEY = ACCOUNT_KEYS[0] as Uint8Array
export const SENDER = ACCOUNTS[0] as Hex

/** A chain with traces, and a sender who counts its nonces. */
export interface TracedChain {
  readonly chain: TestChain
  readonly traces: ReturnType<typeof createTraces>
  submit(fields: Partial<UnsignedTransaction>): Promise<Hex>
  /** A contract with this code, in a block of its own. */
  deploy(runtime: Uint8Array): Promise<Hex>
  block(number: number): Promise<TracedBlock & Block>
}

export const withTraces = <T>(use: (traced: TracedChain) => Promise<T>): Promise<T> =>
  withChain(
    async chain => {
      const { genesis, rules } = chain
      const traces = createTraces({
        store: chain.store,
        params: genesis.params,
        engine: 'wasm',
        rules,
        logger: silentLogger,
      })
      let nonce = 0
      const submit: TracedChain['submit'] = fields =>
        chain.pool.service.submit(signedRaw(KEY, { gasLimit: 500_000n, nonce: nonce++, ...fields }))
      try {
        return await use({
          chain,
          traces,
          submit,
          async deploy(runtime) {
            const address = createAddress(SENDER, nonce)
            await submit({ to: null, data: deployer(runtime) })
            await chain.mine()
            return address
          },
          async block(number) {
            const found = await chain.blocks.block(number)
            assert(found, 'the block is there')
            return found
          },
        })
      } finally {
        await traces.close()
      }
    },
    { mode: 'wasm' },
  )

/** The whole answer; throws what the answer fails with, the text before it as `text`. */
export const readAll = async (answer: TraceAnswer): Promise<string> => {
  let text = ''
  try {
    for (let chunk = await answer.next(); chunk !== undefined; chunk = await answer.next())
      text += Buffer.from(chunk).toString()
    return text
  } catch (error) {
    throw Object.assign(error as Error, { text })
  }
}

export const readJson = async <T>(answer: TraceAnswer): Promise<T> => JSON.parse(await readAll(answer)) as T

export const CALL_TRACE = {
  ...DEFAULT_TRACE,
  tracer: { name: 'callTracer', onlyTopCall: false, withLog: false },
} as const
