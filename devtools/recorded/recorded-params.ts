import type { BlobFork, BlobParams, Fork } from '../../src/config/forks.ts'
import { type NetworkParams, UNBOUNDED_GAS } from '../../src/config/networks.ts'
import { ETHEREUM_BLOBS, ethereumGas } from '../ethereum-params.ts'
import type { GethGenesis } from './geth-genesis.ts'

/** Fields of a recorded header that determine forks and limits. */
export interface RecordedHeader {
  readonly number: number
  readonly timestamp: number
  readonly difficulty: bigint
  readonly gasLimit: bigint
}

/** First recorded block at or after a time. */
const heightAt = (headers: readonly RecordedHeader[], time: number): number | null =>
  headers.find(({ timestamp }) => timestamp >= time)?.number ?? null

/** First block whose parent has reached the terminal difficulty of proof of work (EIP-3675). */
const mergeHeight = (headers: readonly RecordedHeader[], terminal: bigint | null): number | null => {
  if (terminal === null) return null
  let total = 0n
  for (const { number, difficulty } of headers) {
    if (total >= terminal) return number
    total += difficulty
  }
  return null
}

/** Values that a genesis does not set are Ethereum's own. */
const blobForksOf = (
  { timeForks, blobSchedule }: GethGenesis,
  headers: readonly RecordedHeader[],
): readonly BlobFork[] =>
  timeForks.flatMap(({ name, time }) => {
    const known: Readonly<Record<string, BlobParams>> = ETHEREUM_BLOBS
    const blobParams = blobSchedule.get(name) ?? known[name]
    const height = heightAt(headers, time)
    return blobParams === undefined || height === null ? [] : [{ height, ...blobParams }]
  })

/**
 * Rules of a recorded chain, with `headers` from genesis on: forks that a genesis sets by difficulty or by time start at the block
 * where the record reaches them, so that execution depends on height alone.
 */
export const paramsFromRecord = (genesis: GethGenesis, headers: readonly RecordedHeader[]): NetworkParams => {
  const { params, timeForks, terminalTotalDifficulty } = genesis
  const byTime = new Map(timeForks.map(({ name, time }) => [name, heightAt(headers, time)]))
  const heightOf = ({ name, height }: Fork): number | null => {
    if (name === 'paris') return mergeHeight(headers, terminalTotalDifficulty)
    return byTime.get(name) ?? height
  }
  const blockGasLimit = headers.at(-1)?.gasLimit ?? params.blockGasLimit
  return {
    ...params,
    forks: params.forks.map(fork => ({ name: fork.name, height: heightOf(fork) })),
    blobForks: blobForksOf(genesis, headers),
    ...ethereumGas(blockGasLimit),
    maxBlockExecutionGas: UNBOUNDED_GAS,
  }
}
