import type { Found } from './climb.ts'
import { type Cost, type Meter, msPerMillionGas, WARM_UP_GAS } from './measure.ts'

/** A worst case at several sizes. */
export interface Confirmed extends Found {
  /** By million gas; undefined: not measured, since the size before took too long. */
  readonly sizes: ReadonlyMap<number, Cost>
  /** log(time ratio) / log(gas ratio) between the smallest and the largest size: 1 is linear. */
  readonly exponent: number
}

export const SIZES = [10, 40, 100] as const
/** A program that takes longer than this is not run at the next size. */
const LONGEST_MS = 30_000

/** The faster of two runs: what else the machine does only ever adds. */
const fastest = async (meter: Meter, { family, genes }: Found, gas: bigint, runs: number): Promise<Cost> => {
  let best = await meter.measure(family, genes, gas)
  for (let run = 1; run < runs; run++) {
    const cost = await meter.measure(family, genes, gas)
    if (cost.cpuMs < best.cpuMs) best = cost
  }
  return best
}

/** `runs` of each size, of which the fastest counts. */
export const confirm = async (meter: Meter, found: Found, runs = 2): Promise<Confirmed> => {
  const sizes = new Map<number, Cost>()
  await meter.measure(found.family, found.genes, WARM_UP_GAS)
  for (const size of SIZES) {
    const cost = await fastest(meter, found, BigInt(size) * 1_000_000n, size === SIZES[0] ? runs + 1 : runs)
    sizes.set(size, cost)
    if (cost.cpuMs > LONGEST_MS) break
  }
  return { ...found, sizes, exponent: exponentOf([...sizes.values()]) }
}

const exponentOf = (costs: readonly Cost[]): number => {
  const [first, last] = [costs[0], costs.at(-1)]
  if (first === undefined || last === undefined || first === last) return Number.NaN
  return Math.log(last.cpuMs / first.cpuMs) / Math.log(Number(last.gas) / Number(first.gas))
}

const cell = (cost: Cost | undefined): string => (cost === undefined ? '' : msPerMillionGas(cost).toFixed(1))

const describe = ({ genes }: Found): string =>
  Object.entries(genes)
    .filter(([, choice]) => choice !== '')
    .map(
      ([name, choice]) =>
        `${name} ${typeof choice === 'string' && choice.length > 48 ? `${choice.slice(0, 48)}...` : choice}`,
    )
    .join(', ')

/** Worst first. */
export const table = (all: readonly Confirmed[]): string => {
  const worst = (found: Confirmed): number => Math.max(...[...found.sizes.values()].map(msPerMillionGas))
  const rows = all
    .toSorted((a, b) => worst(b) - worst(a))
    .map(found => {
      const cells = SIZES.map(size => cell(found.sizes.get(size)))
      return `| ${found.family.kind} | ${cells.join(' | ')} | ${found.exponent.toFixed(2)} | ${describe(found)} |`
    })
  const heads = SIZES.map(size => `ms per M at ${size} M`)
  return [
    `| kind | ${heads.join(' | ')} | exponent | program |`,
    `|---|${'---:|'.repeat(SIZES.length + 1)}---|`,
    ...rows,
  ].join('\n')
}
