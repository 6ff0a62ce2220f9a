import type { Random } from '@tandem/base/random.ts'
import { type AnyGenes, type Family, firstGenes, mutate, randomGenes } from './family.ts'
import { type Meter, msPerMillionGas, WARM_UP_GAS } from './measure.ts'

export interface Found {
  readonly family: Family
  readonly genes: AnyGenes
  readonly msPerMillionGas: number
}

/** One measurement after a shorter one. */
const judge = async (meter: Meter, family: Family, genes: AnyGenes, gas: bigint): Promise<number> => {
  await meter.measure(family, genes, WARM_UP_GAS)
  const cost = await meter.measure(family, genes, gas)
  // Less than a tenth of the gas: the program ended early, and what the block costs by itself is all that was seen.
  return cost.gas * 10n < gas ? 0 : msPerMillionGas(cost)
}

export interface ClimbOptions {
  readonly meter: Meter
  readonly random: Random
  /** Programs tried of each family. */
  readonly tries: number
  readonly gas: bigint
  onTry?(found: Found, isBest: boolean): void
}

/** The dearest program of a family for its gas: random ones at first, then changes of the best, with a random one now and then. */
export const climb = async (family: Family, { meter, random, tries, gas, onTry }: ClimbOptions): Promise<Found> => {
  const seen = new Set<string>()
  let best: Found | undefined
  const attempt = async (genes: AnyGenes): Promise<void> => {
    const key = JSON.stringify(genes)
    if (seen.has(key)) return
    seen.add(key)
    const found = { family, genes, msPerMillionGas: await judge(meter, family, genes, gas) }
    const isBest = best === undefined || found.msPerMillionGas > best.msPerMillionGas
    if (isBest) best = found
    onTry?.(found, isBest)
  }
  await attempt(firstGenes(family))
  for (let i = 1; i < tries; i++) {
    const isRandom = i < tries / 3 || random.chance(0.2)
    await attempt(isRandom ? randomGenes(family, random) : mutate(family, (best as unknown as Found).genes, random))
  }
  return best as unknown as Found
}
