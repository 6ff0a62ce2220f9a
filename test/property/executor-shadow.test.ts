import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Hex } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { expect, test } from 'vitest'
import { createExecutor } from '../../src/evm/engines/executor.ts'
import { Journal } from '../../src/state/journal/journal.ts'
import { ample, env, listSource } from '../unit/evm/world.ts'
import { createRandom, randomTransactions, setUpZoo } from './executor-plans.ts'

/*
 * Random transactions over a zoo of contracts, each block by our executor and by the VM of EthereumJS: gas, logs, status, receipts
 * and every account and slot must agree. COUNT= for a longer run, SEED= for another one.
 */
const SEED = Number(process.env['SEED'] ?? 20_250_217)
const COUNT = Number(process.env['COUNT'] ?? 300)
const PER_BLOCK = 25

test(
  `${COUNT} random transactions agree with the VM of EthereumJS (SEED=${SEED})`,
  async () => {
    const { world, deploys, state } = await setUpZoo(createRandom(SEED))
    const reproductionDir = mkdtempSync(join(tmpdir(), 'shadow-'))
    const executor = createExecutor({ mode: 'shadow', logger: silentLogger, reproductionDir })
    const nonces = new Map<Hex, number>()
    let before = state
    let [done, failed, dropped, logs, gas] = [0, 0, 0, 0, 0n]
    const startMs = performance.now()
    for (let number = 1_000; done < COUNT; number++) {
      const transactions =
        number === 1_000 ? deploys : randomTransactions(world, nonces, Math.min(PER_BLOCK, COUNT - done))
      const miner: Hex = world.random.chance(3) ? `0x${'00'.repeat(20)}` : env().miner
      const journal = new Journal(before)
      const block = env({ number, timestamp: number * 2, miner })
      const built = await executor.build(journal, block, listSource(transactions), ample, [
        { address: miner, amountWei: 5n },
      ])
      before = before.with(journal.changes())
      for (const { transaction } of built.dropped)
        nonces.set(transaction.from, Number(before.account(transaction.from)?.nonce ?? 0))
      done += number === 1_000 ? 0 : transactions.length
      failed += built.receipts.filter(receipt => receipt.status === 0).length
      dropped += built.dropped.length
      logs += built.receipts.reduce((sum, receipt) => sum + receipt.logs.length, 0)
      gas += built.gasUsed
    }
    const seconds = ((performance.now() - startMs) / 1_000).toFixed(1)
    console.log(`${done} transactions in ${seconds} s: ${failed} failed, ${dropped} dropped, ${logs} logs, ${gas} gas`)
    // The mix is only worth something while every kind of outcome is in it.
    expect(failed).toBeGreaterThan(COUNT / 20)
    expect(failed).toBeLessThan(COUNT * 0.8)
    expect(dropped).toBeLessThan(COUNT / 4)
    expect(logs).toBeGreaterThan(COUNT / 10)
  },
  24 * 3_600_000,
)
