import type { Hex } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { expect, test } from 'vitest'
import { createEthereumJsEngine } from '../../src/evm/engines/ethereumjs/engine.ts'
import { createExecutor } from '../../src/evm/engines/executor.ts'
import type { TracerConfig } from '../../src/evm/tracers/config.ts'
import { Journal } from '../../src/state/journal/journal.ts'
import { SEED } from '../support/seed.ts'
import { CALLS, PRESTATE, STRUCT_LOGS, traceAll } from '../support/trace.ts'
import { ample, env, listSource } from '../unit/evm/world.ts'
import { createRandom, randomTransactions, setUpZoo } from './executor-plans.ts'

/*
 * Random transactions over a zoo of contracts, traced on both engines: every tracer's JSON must be equal. COUNT= for a longer run,
 * SEED= for another one.
 */
const COUNT = Number(process.env['COUNT'] ?? 60)
const PER_BLOCK = 20

const TRACERS: readonly TracerConfig[] = [
  { ...STRUCT_LOGS, enableMemory: true, enableReturnData: true },
  CALLS,
  PRESTATE,
  { ...PRESTATE, diffMode: true },
]

test(
  `${COUNT} random transactions have equal traces on both engines (SEED=${SEED})`,
  async () => {
    const { world, deploys, state } = await setUpZoo(createRandom(SEED))
    const executor = createExecutor({ mode: 'wasm', logger: silentLogger })
    const ethereumJs = createEthereumJsEngine()
    const nonces = new Map<Hex, number>()
    let before = state
    let done = 0
    for (let number = 1_000; done < COUNT; number++) {
      const candidates = number === 1_000 ? deploys : randomTransactions(world, nonces, PER_BLOCK)
      const block = env({ number, timestamp: number * 2 })
      const journal = new Journal(before)
      const { transactions, dropped } = await executor.build(journal, block, listSource(candidates), ample)
      for (const { transaction } of dropped)
        nonces.set(transaction.from, Number(before.account(transaction.from)?.nonce ?? 0))
      for (const config of TRACERS) {
        const ours = await traceAll(before, block, transactions, config)
        const theirs = await traceAll(before, block, transactions, config, ethereumJs)
        for (const [i, { json, receipt }] of theirs.entries()) {
          expect(json, `block ${number}, transaction ${i}, ${config.name}`).toEqual(ours[i]?.json)
          expect(receipt).toEqual(ours[i]?.receipt)
        }
      }
      before = before.with(journal.changes())
      done += transactions.length
    }
  },
  24 * 3_600_000,
)
