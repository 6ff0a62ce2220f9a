/**
 * Random messages on the EVM engines until the time is over: the interpreter in WebAssembly against the one in TypeScript for each, for
 * a share of the messages also EthereumJS. Prints its counts as a JSON line each minute and at the end, and each difference with the number of its world; exits 1 after one.
 *   node bench/differential.ts [--seconds 60] [--seed 1] [--messages 60] [--ethereumjs 200]
 *   node bench/differential.ts --world 12345      (one world again, on all engines)
 */
import { parseArgs } from 'node:util'
import { DifferentialRun } from '../test/property/evm/differential.ts'
import { loadRealContracts } from '../test/property/evm/real-contracts.ts'

const REPORT_MS = 60_000
/** Worlds with many calls of slow precompiles are left, which are the same code on both. */
const MOST_WORLD_MS = 60
const MOST_DIFFERENCES = 20

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    messages: { type: 'string', default: '60' },
    ethereumjs: { type: 'string', default: '200' },
    world: { type: 'string' },
  },
})

const isOne = values.world !== undefined
const run = new DifferentialRun(
  {
    messagesPerWorld: Number(values.messages),
    ethereumJsMessages: isOne ? 1 : Number(values.ethereumjs),
    mostWorldMs: isOne ? Number.POSITIVE_INFINITY : MOST_WORLD_MS,
  },
  loadRealContracts({ compiled: true }),
)

const startMs = performance.now()
const elapsedMs = (): number => performance.now() - startMs
let differences = 0
const report = (): void => {
  const seconds = Math.round(elapsedMs() / 1_000)
  const cpuSeconds = Math.round(process.cpuUsage().user / 1e6)
  console.log(
    JSON.stringify({
      bench: 'differential',
      seed: Number(values.seed),
      seconds,
      cpuSeconds,
      differences,
      ...run.counts,
    }),
  )
}

let reportedMs = 0
let world = Number(values.world ?? values.seed)
do {
  const found = await run.world(world++)
  if (found !== undefined) {
    differences++
    console.log(`world ${found.world}, message ${found.message}, ${found.engine}\n${found.text}`)
  }
  if (elapsedMs() - reportedMs > REPORT_MS) {
    reportedMs = elapsedMs()
    report()
  }
} while (!isOne && elapsedMs() < Number(values.seconds) * 1_000 && differences < MOST_DIFFERENCES)
report()
process.exitCode = differences === 0 ? 0 : 1
