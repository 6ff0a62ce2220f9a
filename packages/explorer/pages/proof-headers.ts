import { checksumAddress } from '../keccak.ts'
import type { ProofRow } from '../store/sql/rows.ts'
import type { PageContext } from './page-route.ts'

/** Final header of the proof chain. */
export interface ProofHeaderView {
  readonly height: number
  readonly id: string
  readonly miner: string
  readonly algorithm: string
  /** Expected number of hashes. */
  readonly work: number
  readonly timestamp: number
  readonly includedIn: number
}

/** Headers that the page's charts show. */
const SHOWN_HEADERS = 100

const viewOf = ({ height, id, miner, algorithm, difficulty, timestamp, blockNumber }: ProofRow): ProofHeaderView => ({
  height,
  id,
  miner: checksumAddress(miner),
  algorithm,
  work: Number(difficulty),
  timestamp,
  includedIn: blockNumber,
})

/** The newest final headers of the index, oldest first. */
export const newestProofHeaders = async ({
  index,
}: Pick<PageContext, 'index'>): Promise<readonly ProofHeaderView[]> => {
  const { items } = await index.proofHeaders({ limit: SHOWN_HEADERS, offset: 0, after: null })
  return items.map(viewOf).toReversed()
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
