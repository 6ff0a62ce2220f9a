/**
 * Processor time of a unit of gas, on the networks' own prices: for each kind of work (test/worst-case) the slowest of a few programs at
 * 10, 40 and 100 M gas. Prints one JSON line for each kind and a table on standard error; exits 1 where a unit takes much longer in a large
 * message than in a small one, or where a million takes more than the bound.
 *   node bench/gas.ts [--tries N] [--seed N] [--execution wasm] [KIND...]
 */
import { parseArgs } from 'node:util'
import { createRandom } from '@tandem/base/random.ts'
import type { ExecutionMode } from '../src/evm/executor-types.ts'
import { climb } from '../test/worst-case/climb.ts'
import { DiskWorld } from '../test/worst-case/disk.ts'
import { FAMILIES } from '../test/worst-case/families.ts'
import { type Cost, Meter, msPerMillionGas } from '../test/worst-case/measure.ts'
import { type Confirmed, confirm, table } from '../test/worst-case/table.ts'

/** Of the longest message against the shortest, by gas: caches that become too small explain a factor of two. */
const MOST_GROWTH = 2.5
/** Growth from less than this is not told from noise. */
const LEAST_MS_PER_MILLION = 1
const CLIMB_GAS = 10_000_000n
/** Bound on every kind, at the size of a whole transaction (docs/security.md#cost-of-gas). */
const MOST_MS_PER_MILLION = 20

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '20250217' },
    tries: { type: 'string', default: '6' },
    execution: { type: 'string', default: 'wasm' },
  },
})

const chosen = FAMILIES.filter(({ kind }) => positionals.length === 0 || positionals.some(part => kind.includes(part)))
const disk = await DiskWorld.create({ isFilled: chosen.some(({ onDisk }) => onDisk === true) })
const meter = new Meter(values.execution as ExecutionMode, disk)

const growthOf = ({ sizes }: Confirmed): number => {
  const costs = [...sizes.values()].map(msPerMillionGas)
  return (costs.at(-1) ?? 0) / Math.max(costs[0] ?? 0, LEAST_MS_PER_MILLION)
}

const all: Confirmed[] = []
for (const family of chosen) {
  const random = createRandom(Number(values.seed))
  const found = await climb(family, { meter, random, tries: Number(values.tries), gas: CLIMB_GAS })
  let confirmed = await confirm(meter, found, 1)
  // Other work of the machine only ever adds: what seems to grow is measured again.
  if (growthOf(confirmed) > MOST_GROWTH) confirmed = await confirm(meter, found, 3)
  all.push(confirmed)
  const sizes = Object.fromEntries(
    [...confirmed.sizes].map(([size, cost]) => [size, Number(msPerMillionGas(cost).toFixed(2))]),
  )
  const growth = Number(growthOf(confirmed).toFixed(2))
  console.log(JSON.stringify({ bench: 'gas', kind: family.kind, msPerMillionGas: sizes, growth, program: found.genes }))
}
await disk.close()
process.stderr.write(`${table(all)}\n`)
const superlinear = all.filter(found => growthOf(found) > MOST_GROWTH)
for (const { family } of superlinear) process.stderr.write(`time grows faster than gas: ${family.kind}\n`)
const slow = all.filter(({ sizes }) => msPerMillionGas([...sizes.values()].at(-1) as Cost) > MOST_MS_PER_MILLION)
for (const { family } of slow)
  process.stderr.write(`more than ${MOST_MS_PER_MILLION} ms for a million gas: ${family.kind}\n`)
process.exitCode = superlinear.length + slow.length === 0 ? 0 : 1
