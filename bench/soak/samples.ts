import { readFileSync } from 'node:fs'
import { scrape } from '../../test/support/scrape.ts'

/** Metrics of the node at one moment; memory in MiB. */
export interface Sample {
  readonly atMs: number
  readonly rss: number
  /** Of `rss`: pages of files, which are the database's and the kernel may take back. */
  readonly files: number
  readonly heap: number
  readonly external: number
  readonly loopDelayMs: number
}

export const sampleOf = async (url: string | undefined, pid: number): Promise<Sample> => {
  const metrics = await scrape(url)
  const megabytes = (name: string): number => Math.round((metrics.get(name) ?? Number.NaN) / 2 ** 20)
  return {
    atMs: performance.now(),
    rss: megabytes('process_resident_memory_bytes'),
    files: filesOf(pid),
    heap: megabytes('process_heap_used_bytes'),
    external: megabytes('process_external_memory_bytes'),
    loopDelayMs: Math.round((metrics.get('process_event_loop_delay_seconds{quantile="1"}') ?? Number.NaN) * 1_000),
  }
}

/** Waits for the disk before a block may be shown, of the log alone: how many took more than so many milliseconds. It is the machine's doing. */
export const slowSyncsOf = (metrics: ReadonlyMap<string, number>): Readonly<Record<string, number>> => {
  const all = metrics.get('consensus_fsync_seconds_count{file="log"}') ?? Number.NaN
  const upTo = (seconds: number) =>
    metrics.get(`consensus_fsync_seconds_bucket{le="${seconds}",file="log"}`) ?? Number.NaN
  return { all, over50Ms: all - upTo(0.05), over100Ms: all - upTo(0.1), over250Ms: all - upTo(0.25) }
}

const filesOf = (pid: number): number => {
  const [, kilobytes = Number.NaN] = /^RssFile:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kilobytes) / 1_024)
}

export const quantile = (numbers: readonly number[], q: number): number => {
  const sorted = numbers.toSorted((a, b) => a - b)
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN)
}

/** At most `count` of the values, evenly spread. */
export const thinned = (values: readonly number[], count = 30): number[] => {
  const every = Math.max(1, Math.ceil(values.length / count))
  return values.filter((_, i) => i % every === 0)
}

/**
 * Growth of the resident set in percent: median of the last part against that of the part after the warm-up, each a tenth of what
 * follows the warm-up and at least three samples, for single samples jump with the collector.
 */
export const rssGrowthPercent = (samples: readonly Sample[], warmUpMs: number): number => {
  const startMs = (samples[0]?.atMs ?? 0) + warmUpMs
  const rss = samples.filter(({ atMs }) => atMs >= startMs).map(sample => sample.rss)
  const part = Math.max(3, Math.floor(rss.length / 10))
  const before = quantile(rss.slice(0, part), 0.5)
  return Math.round((quantile(rss.slice(-part), 0.5) / before - 1) * 1_000) / 10
}
