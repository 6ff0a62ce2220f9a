import type { Hex } from '@tandem/base/bytes.ts'
import type { Random } from '@tandem/base/random.ts'
import type { EvmFork } from '../../src/config/forks.ts'
import type { UnsignedTransaction } from '../../src/primitives/transaction/transaction-encoding.ts'

/** Parameters of a program: the choices of each axis, in order of size where they have one. */
export type Axes = Readonly<Record<string, readonly (number | string)[]>>

/** One choice on every axis. */
export type Genes<A extends Axes> = { readonly [Name in keyof A]: A[Name][number] }

/** An account that stands before the block. */
export interface Setup {
  readonly address: Hex
  readonly code?: Uint8Array
  readonly balance?: bigint
}

/** A block of transactions over some accounts. */
export interface Case {
  readonly accounts: readonly Setup[]
  /** By default one transaction with all of the gas. */
  readonly transactions: readonly Partial<UnsignedTransaction>[]
  readonly fork?: EvmFork
}

/** Programs of one kind. */
export interface Family<A extends Axes = Axes> {
  readonly kind: string
  readonly name: string
  readonly axes: A
  /** Reads accounts, slots and code that stand on disk. */
  readonly onDisk?: boolean
  build(genes: Genes<A>, gas: bigint): Case
}

/** Keeps the choices of the axes known to `build`. */
export const family = <const A extends Axes>(family: Family<A>): Family => family as unknown as Family

export const CONTRACT: Hex = `0x${'c0'.repeat(20)}`
/** More wei than any program spends. */
export const RICH = 10n ** 24n

/** A call of one contract with all of the gas. */
export const callOf = (code: Uint8Array, others: readonly Setup[] = [], data?: Uint8Array): Case => ({
  accounts: [{ address: CONTRACT, code, balance: RICH }, ...others],
  transactions: [{ to: CONTRACT, ...(data && { data }) }],
})

export type AnyGenes = Readonly<Record<string, number | string>>

export const randomGenes = ({ axes }: Family, random: Random): AnyGenes =>
  Object.fromEntries(Object.entries(axes).map(([name, choices]) => [name, random.pick(choices)]))

/** The first choice of every axis. */
export const firstGenes = ({ axes }: Family): AnyGenes =>
  Object.fromEntries(Object.entries(axes).map(([name, choices]) => [name, choices[0] as number | string]))

/** Another choice on one axis or two, mostly a neighbour of the one before. */
export const mutate = ({ axes }: Family, genes: AnyGenes, random: Random): AnyGenes => {
  const changed: Record<string, number | string> = { ...genes }
  const names = Object.keys(axes).filter(name => (axes[name]?.length ?? 0) > 1)
  if (names.length === 0) return changed
  for (let left = random.chance(1 / 3) ? 2 : 1; left > 0; left--) {
    const name = random.pick(names)
    const choices = axes[name] as readonly (number | string)[]
    const at = choices.indexOf(changed[name] as number | string)
    const near = Math.min(choices.length - 1, Math.max(0, at + (random.chance(0.5) ? 1 : -1)))
    changed[name] = random.chance(0.5) ? random.pick(choices) : (choices[near] as number | string)
  }
  return changed
}
