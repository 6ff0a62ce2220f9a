import type { Metrics } from '../metrics/registry.ts'
import type { TxPool } from './pool.ts'
import type { JournalWrite } from './transaction-journal.ts'

export type PoolMetrics = ReturnType<typeof createPoolMetrics>

/** Metrics of the pool; sizes and drops are read from the pool at each scrape. */
export const createPoolMetrics = (metrics: Metrics, pool: TxPool) => {
  metrics.readGauge('txpool_pending_transactions', 'Executable in the next block', () => pool.counts().pending)
  metrics.readGauge(
    'txpool_queued_transactions',
    'Waiting for a nonce, for funds or for a lower base fee',
    () => pool.counts().queued,
  )
  metrics.readGauge(
    'txpool_overrun_accounts',
    'Senders remembered because a heavy transaction of theirs was stopped for lack of time',
    () => pool.overrunSenders,
  )
  metrics.readGauge('txpool_sender_accounts', 'Senders with pooled transactions', () => pool.senders)
  metrics.readGauge(
    'txpool_pending_used_ratio',
    'Share of the room for ready transactions in use; at 1 the largest senders are trimmed',
    () => pool.slots().ready / pool.limits.pending,
  )
  metrics.readGauge(
    'txpool_queued_used_ratio',
    'Share of the room for transactions behind a nonce gap in use',
    () => pool.slots().queued / pool.limits.queued,
  )
  countDrops(metrics, pool)
  const overruns = metrics.counter({
    name: 'txpool_overruns_total',
    help: 'Runs of transactions that were stopped for lack of time while a block was built',
  })
  const submissions = metrics.counter({
    name: 'txpool_submissions_total',
    help: 'Transactions offered, by origin and outcome: accepted, or the code of the refusal',
    labels: ['origin', 'result'],
  })
  const seconds = metrics.histogram({
    name: 'txpool_submit_seconds',
    help: 'From bytes to result: decoding, recovery, admission, and for local ones the journal',
    labels: ['origin'],
  })
  const journalSeconds = metrics.histogram({
    name: 'txpool_journal_write_seconds',
    help: 'Write and sync of one batch',
  })
  const journalBatch = metrics.histogram({
    name: 'txpool_journal_batch_transactions',
    help: 'Transactions that shared one sync',
    buckets: [1, 4, 16, 64, 256, 1_024, 4_096],
  })
  const journalBytes = metrics.counter({ name: 'txpool_journal_bytes_total', help: 'Written to the journal' })
  return {
    submitted(origin: 'local' | 'remote', result: string, duration: number) {
      submissions.inc({ origin, result })
      seconds.observe({ origin }, duration)
    },
    /** A build stopped a transaction. */
    overran: () => overruns.inc(),
    journalWritten({ transactions, bytes, durationMs }: JournalWrite) {
      journalSeconds.observe(durationMs / 1e3)
      journalBatch.observe(transactions)
      journalBytes.inc(bytes)
    },
  }
}

const countDrops = (metrics: Metrics, pool: TxPool): void => {
  const drops = metrics.counter({
    name: 'txpool_drops_total',
    help: 'Transactions that left the pool, by reason; stale ones were included or overtaken',
    labels: ['reason'],
  })
  const seen = { ...pool.drops }
  metrics.onScrape(() => {
    for (const reason of Object.keys(seen) as (keyof typeof seen)[]) {
      drops.inc({ reason }, pool.drops[reason] - seen[reason])
      seen[reason] = pool.drops[reason]
    }
  })
}
