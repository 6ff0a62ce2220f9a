import { bytesToHex, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import { createInterpreter } from '../../../../devtools/interpreter/engine.ts'
import type { EvmFork } from '../../../../src/config/forks.ts'
import type { EngineMessage } from '../../../../src/evm/engine.ts'
import { createWasmEngine } from '../../../../src/evm/engines/wasm/wasm-engine.ts'
import { Journal } from '../../../../src/state/journal/journal.ts'
import { createStepOracle } from '../../../support/step-oracle.ts'
import { env, funded, key, messageTo, paramsAt, withCode } from '../world.ts'

/* Programs in which random ones found the engines to differ, on both engines and on EthereumJS. */

const sender = key(1)
const TARGET: Hex = `0x${'cc'.repeat(20)}`
const interpreter = createInterpreter()
const ENGINES = [interpreter, createWasmEngine(() => interpreter)]

interface Vector {
  readonly code: string
  readonly fork: EvmFork
  readonly message?: Partial<EngineMessage>
}

/** The sender's nonce is raised before a message. */
const worldOf = (code: string) => {
  const state = withCode(funded([sender]), TARGET, hexToBytes(`0x${code}`))
  const account = state.accounts.get(sender.address)
  if (account !== undefined) account.nonce = 1
  return state
}

/** Creates with 8 bytes of init code, then returns the word of the result and the size of the return data. */
const creating = (init: string): string => `67${init}5f52600860186000f05f523d60205260405ff3`

const VECTORS: Readonly<Record<string, Vector>> = {
  'a creation that reverts with 0xef keeps its gas and data': { code: creating('60ef5f5360015ffd'), fork: 'prague' },
  'so it does before London': { code: creating('60ef60005360fd00'), fork: 'berlin' },
  'hashes of blobs, and none behind them': {
    code: '5f495f5260014960205260405ff3',
    fork: 'cancun',
    message: { blobVersionedHashes: [`0x01${'ab'.repeat(31)}`] },
  },
  'a creation by a transaction that reverts with 0xef': {
    code: '00',
    fork: 'osaka',
    message: { to: null, data: hexToBytes('0x60ef5f5360015ffd') },
  },
}

describe.each(Object.entries(VECTORS))('%s', (_, { code, fork, message = {} }) => {
  const block = env({ params: paramsAt(fork) })
  const sent = messageTo(TARGET, 500_000n, sender, message)
  const run = async ({ run }: (typeof ENGINES)[number]) => {
    const { gasUsed, output, failure } = await run(new Journal(worldOf(code)), block, sent)
    return { gasUsed, output: bytesToHex(output), failed: failure !== null }
  }

  test.each(ENGINES)('$name', async engine => {
    expect(await run(engine)).toEqual(await run(createStepOracle()))
  })
})
