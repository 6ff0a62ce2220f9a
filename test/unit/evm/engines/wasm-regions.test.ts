import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import { createInterpreter } from '../../../../devtools/interpreter/engine.ts'
import type { EngineMessage } from '../../../../src/evm/engine.ts'
import { createWasmEngine } from '../../../../src/evm/engines/wasm/wasm-engine.ts'
import { Journal } from '../../../../src/state/journal/journal.ts'
import type { MemoryState } from '../../state/memory-state.ts'
import { env, funded, key, messageTo, paramsAt, withCode } from '../world.ts'

/*
 * For each region of the module's memory, the program that fills most of it for 100 M gas, the most that a transaction may use: none may
 * leave the engine in WebAssembly, for the other one takes several times as long for everything else that the transaction does, and
 * none may run twice, for an attacker does work first and fills the region at the end.
 */

const sender = key(1)
const TARGET: Hex = `0x${'cc'.repeat(20)}`
const HELPER: Hex = `0x${'dd'.repeat(20)}`
const MAX_GAS = 100_000_000n

/** Asks for the hash of the parent block: the host provides it once in each run of a message. */
const ASKS = '600143034050'
const forever = (body: string): string => `5b${ASKS}${body}5f56`
/** As often as a code has room for, so that the loop itself costs next to nothing. */
const unrolled = (body: string): string => forever(body.repeat(Math.floor(24_000 / (body.length / 2))))
const call = `5f5f5f5f5f73${HELPER.slice(2)}5af150`

const PROGRAMS: Readonly<Record<string, { code: string; helper?: string; least?: bigint }>> = {
  'slots and undo log: transient words': { code: unrolled('5a5a5d') },
  'slots: transient words that are read': { code: unrolled('5a5c50') },
  'slots: words that are read': { code: unrolled('5a5450') },
  'undo log: the same word in new frames': { code: forever(call.repeat(700)), helper: '5a5f5d00' },
  'undo log: frames that fail': { code: forever(call.repeat(700)), helper: `${'5a5a5d'.repeat(300)}fe` },
  accounts: { code: unrolled('5a3150') },
  'accounts: payments to new ones': { code: unrolled('5f5f5f5f60015a5ff150') },
  'accounts: creations': { code: unrolled('5f5f5ff050') },
  'accounts: frames that cannot pay for them': {
    code: forever('5a5f525f5f60205f5f73dddddddddddddddddddddddddddddddddddddddd6101f4f150'.repeat(600)),
    helper: '5f353100',
  },
  'logs: the most of them': { code: unrolled('5f5fa0') },
  'logs: of a topic': { code: unrolled('5a5f5fa1') },
  'logs: of data': { code: unrolled('60305fa0') },
  'return data: all memory there is': { code: `${ASKS}626d800051595ff3` },
  'return data: of calls': { code: forever(call.repeat(700)), helper: '620f424051595ff3' },
  'frames: as deep as they go': { code: `${ASKS}5f5f5f5f5f305af1`, least: 50_000n },
  'frames: with memory in each': { code: `${ASKS}6207530051505f5f5f5f5f305af1`, least: 40_000_000n },
  'frames: creations in creations': { code: `${ASKS}385f5f39385f5ff0`, least: 5_000_000n },
  'codes: creations of the largest code': { code: unrolled('646160005ff35f526005601b5ff050') },
}

const run = async (code: string, helper: string | undefined, sent: Partial<EngineMessage> = {}) => {
  let elsewhere = 0
  const engine = createWasmEngine(() => {
    elsewhere++
    return createInterpreter()
  })
  const state: MemoryState = withCode(funded([sender]), TARGET, hexToBytes(`0x${code}`), 10n ** 18n)
  if (helper !== undefined) withCode(state, HELPER, hexToBytes(`0x${helper}`), 10n ** 18n)
  const message = messageTo(TARGET, MAX_GAS, sender, sent)
  let runs = 0
  const block = env({ params: paramsAt('prague') })
  const blockHash = async (number: number): Promise<Hex> => {
    runs++
    return block.blockHash(number)
  }
  const { gasUsed } = await engine.run(new Journal(state), block, message, { blockHash })
  return { elsewhere, runs, gasUsed }
}

describe('no program of 100 M gas leaves the engine in WebAssembly, or runs twice', () => {
  test.each(Object.entries(PROGRAMS))('%s', async (_what, { code, helper, least = (MAX_GAS * 4n) / 5n }) => {
    const { elsewhere, runs, gasUsed } = await run(code, helper)
    expect(elsewhere).toBe(0)
    expect(runs).toBe(1)
    expect(gasUsed).toBeGreaterThan(least)
  })

  test('four of them in a row, as in one block', async () => {
    for (let i = 0; i < 4; i++) expect((await run(unrolled('5a5a5d'), undefined)).elsewhere).toBe(0)
  })
})
