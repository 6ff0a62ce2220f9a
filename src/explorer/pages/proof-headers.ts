import type { PageContext } from './page-route.ts'

/** Header of the proof chain, as the node's own method describes it. */
export interface ProofHeaderView {
  readonly height: number
  readonly id: string
  readonly miner: string
  readonly algorithm: string
  /** Expected number of hashes. */
  readonly work: number
  readonly timestamp: number
  readonly includedIn: number | null
}

interface RawHeader {
  readonly number: string
  readonly id: string
  readonly miner: string
  readonly algorithm: string
  readonly target: string
  readonly timestamp: string
  readonly includedIn: string | null
}

/** Headers of one answer of the node. */
const RANGE = 100
const HASHES = 2n ** 256n

const ask = async <T>(
  { node }: Pick<PageContext, 'node'>,
  method: string,
  params: readonly unknown[],
): Promise<T | undefined> => {
  const answer = await node.rpc(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
  return (JSON.parse(answer) as { readonly result?: T }).result
}

const viewOf = ({ number, id, miner, algorithm, target, timestamp, includedIn }: RawHeader): ProofHeaderView => ({
  height: Number(number),
  id,
  miner,
  algorithm,
  work: Number(HASHES / (BigInt(target) + 1n)),
  timestamp: Number(timestamp),
  includedIn: includedIn === null ? null : Number(includedIn),
})

/** The newest headers, oldest first; empty when there are none, or the node does not serve them. */
export const newestProofHeaders = async (context: Pick<PageContext, 'node'>): Promise<readonly ProofHeaderView[]> => {
  const tip = await ask<string>(context, 'native_proofBlockNumber', [])
  const height = typeof tip === 'string' && /^0x[0-9a-f]{1,12}$/.test(tip) ? Number(tip) : 0
  if (height === 0) return []
  const range = [Math.max(1, height - RANGE + 1), height].map(number => `0x${number.toString(16)}`)
  const headers = await ask<readonly RawHeader[]>(context, 'native_getProofHeaderRange', range)
  return Array.isArray(headers) ? headers.map(viewOf) : []
}

/** Headers below which a rate would be a guess. */
const RATE_HEADERS = 20

/** Hashes per second that the headers took; undefined when they are too few, or of one moment. */
export const hashRate = (headers: readonly ProofHeaderView[]): number | undefined => {
  const [first] = headers
  const last = headers.at(-1)
  if (first === undefined || last === undefined || headers.length < RATE_HEADERS) return undefined
  const seconds = last.timestamp - first.timestamp
  return seconds <= 0 ? undefined : headers.slice(1).reduce((sum, { work }) => sum + work, 0) / seconds
}

/** Numbers of intervals between headers by their length, in ranges of a quarter of the wanted spacing. */
export const intervalHistogram = (
  headers: readonly ProofHeaderView[],
  spacingSeconds: number,
): readonly { readonly label: string; readonly value: number }[] => {
  const width = Math.max(1, Math.round(spacingSeconds / 4))
  const counts = new Array<number>(BUCKETS).fill(0)
  headers.slice(1).forEach(({ timestamp }, at) => {
    const seconds = Math.max(0, timestamp - (headers[at]?.timestamp ?? timestamp))
    const bucket = Math.min(BUCKETS - 1, Math.floor(seconds / width))
    counts[bucket] = (counts[bucket] ?? 0) + 1
  })
  return counts.map((value, at) => ({
    label:
      at === BUCKETS - 1 ? `${at * width}+ s` : width === 1 ? `${at} s` : `${at * width}-${(at + 1) * width - 1} s`,
    value,
  }))
}

const BUCKETS = 12
