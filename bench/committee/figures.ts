import type { NodeOfMany } from '../../test/support/committee.ts'

/** One line for each figure. */
export const print = (figure: string, fields: object): void => {
  process.stdout.write(`${JSON.stringify({ figure, ...fields })}\n`)
}

const rounded = (value: number): number => Math.round(value * 100) / 100

export const quantileOf = (values: readonly number[], q: number): number =>
  rounded(values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * q))] ?? Number.NaN)

export const meanOf = (values: readonly number[]): number =>
  rounded(values.reduce((sum, value) => sum + value, 0) / values.length)

/** Standard deviation. */
export const deviationOf = (values: readonly number[]): number => {
  const mean = meanOf(values)
  return rounded(Math.sqrt(meanOf(values.map(value => (value - mean) ** 2))))
}

export const spreadOf = (values: readonly number[]) => ({
  count: values.length,
  p50: quantileOf(values, 0.5),
  p99: quantileOf(values, 0.99),
  max: quantileOf(values, 1),
})

/** Heights up to the lowest head at which two nodes have different blocks; null: none. */
export const forkOf = async (nodes: readonly NodeOfMany[]): Promise<number | null> => {
  const low = Math.min(...(await Promise.all(nodes.map(node => node.number()))))
  for (let number = 1; number <= low; number++)
    if (new Set(await Promise.all(nodes.map(node => node.hashAt(number)))).size > 1) return number
  return null
}

interface ConsensusBlock {
  readonly consensus: { readonly round: number }
}

const RANGE = 100

/** The round in which each block from `from` to `to` was decided. */
export const roundsOf = async (node: NodeOfMany, from: number, to: number): Promise<readonly number[]> => {
  const rounds: number[] = []
  for (let at = from; at <= to; at += RANGE) {
    const range = [at, Math.min(to, at + RANGE - 1)].map(number => `0x${number.toString(16)}`)
    const blocks = await node.rpc<ConsensusBlock[]>('native_getBlockWithConsensusInfoRange', ...range)
    rounds.push(...blocks.map(({ consensus }) => Number(consensus.round)))
  }
  return rounds
}
