import type { Fork } from '../forks.ts'
import type { Genesis, GenesisStyle } from '../genesis.ts'
import type { NetworkParams } from '../networks.ts'

/** Of a recorded header what forks and limits depend on. */
export interface RecordedHeader {
  readonly number: number
  readonly timestamp: number
  readonly difficulty: bigint
  readonly gasLimit: bigint
}

type GethStyle = Extract<GenesisStyle, { readonly format: 'geth' }>

/** The first recorded block at or after a time. */
const heightAt = (headers: readonly RecordedHeader[], time: number): number | null =>
  headers.find(({ timestamp }) => timestamp >= time)?.number ?? null

/** The first block whose parent has reached the difficulty at which proof of work ends (EIP-3675). */
const mergeHeight = (headers: readonly RecordedHeader[], terminal: bigint | null): number | null => {
  if (terminal === null) return null
  let total = 0n
  for (const { number, difficulty } of headers) {
    if (total >= terminal) return number
    total += difficulty
  }
  return null
}

/**
 * The rules of a recorded chain, of which `headers` are all headers from genesis on: forks that a genesis gives by difficulty or by
 * time begin at the block where the record reaches them, so that everything that executes goes by height alone.
 */
export const recordedParams = (
  { params }: Pick<Genesis, 'params'>,
  { timeForks, terminalTotalDifficulty }: Pick<GethStyle, 'timeForks' | 'terminalTotalDifficulty'>,
  headers: readonly RecordedHeader[],
): NetworkParams => {
  const byTime = new Map(timeForks.map(({ name, time }) => [name, heightAt(headers, time)]))
  const heightOf = ({ name, height }: Fork): number | null => {
    if (name === 'paris') return mergeHeight(headers, terminalTotalDifficulty)
    return byTime.get(name) ?? height
  }
  const blockGasLimit = headers.at(-1)?.gasLimit ?? params.blockGasLimit
  return {
    ...params,
    forks: params.forks.map(fork => ({ name: fork.name, height: heightOf(fork) })),
    blockGasLimit,
    maxTxExecutionGas: blockGasLimit,
    baseFee: { ...params.baseFee, gasTarget: blockGasLimit / 2n, maxBlockGasUsed: blockGasLimit },
  }
}
