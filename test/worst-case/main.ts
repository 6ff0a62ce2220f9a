/**
 * Looks for the programs that take the most time for their gas: for each kind a climb from random programs, then the worst one at 10, 40
 * and 100 M gas. Prints a table; a line on standard error for each best one on the way.
 *   node test/worst-case/main.ts [--seed N] [--tries N] [--gas N] [--execution wasm] [--no-confirm] [--verbose] [KIND...]
 */
import { parseArgs } from 'node:util'
import { createRandom } from '@tandem/base/random.ts'
import type { ExecutionMode } from '../../src/evm/executor-types.ts'
import { climb, type Found } from './climb.ts'
import { DiskWorld } from './disk.ts'
import { FAMILIES } from './families.ts'
import { Meter } from './measure.ts'
import { type Confirmed, confirm, table } from './table.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  allowNegative: true,
  options: {
    seed: { type: 'string', default: '20250217' },
    tries: { type: 'string', default: '30' },
    gas: { type: 'string', default: '10000000' },
    execution: { type: 'string', default: 'wasm' },
    confirm: { type: 'boolean', default: true },
    verbose: { type: 'boolean', default: false },
  },
})

const chosen = FAMILIES.filter(({ kind }) => positionals.length === 0 || positionals.some(part => kind.includes(part)))
const disk = await DiskWorld.create({ isFilled: chosen.some(({ onDisk }) => onDisk === true) })
const meter = new Meter(values.execution as ExecutionMode, disk)

const say = ({ family, genes, msPerMillionGas }: Found): void => {
  const ms = msPerMillionGas.toFixed(1).padStart(8)
  process.stderr.write(`${ms} ms per M  ${family.kind}  ${JSON.stringify(genes)}\n`)
}

const confirmed: Confirmed[] = []
for (const family of chosen) {
  const random = createRandom(Number(values.seed))
  const onTry = (found: Found, isBest: boolean): void => {
    if (isBest || values.verbose) say(found)
  }
  const found = await climb(family, { meter, random, tries: Number(values.tries), gas: BigInt(values.gas), onTry })
  if (values.confirm) confirmed.push(await confirm(meter, found))
}
if (values.confirm) console.log(`seed ${values.seed}, ${values.tries} programs of each kind\n\n${table(confirmed)}`)
await disk.close()
