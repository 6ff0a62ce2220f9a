import type { Clock } from '@tandem/base/clock.ts'
import type { Logger } from '@tandem/base/logger.ts'
import type { HealthStatus } from '../rpc/ports.ts'

const INTERVAL_MS = 60_000

interface StatusLineOptions {
  readonly health: () => HealthStatus
  /** Number of executable transactions in the pool. */
  readonly pending: () => number
  readonly clock: Clock
  readonly logger: Logger
}

/** Logs the status of the node each minute; as a warning while it is unhealthy. Returns the function that ends it. */
export const logStatusLines = ({ health, pending, clock, logger }: StatusLineOptions): (() => void) => {
  let last = health().number ?? 0
  let cancel = () => {}
  const log = (): void => {
    const { healthy, reason, number = 0, peers, mode, round, target } = health()
    const fields = {
      number,
      blocks: number - last,
      peers,
      mode,
      ...(round !== undefined && round > 0 && { round }),
      ...(typeof target === 'number' && target > number && { target }),
      pending: pending(),
    }
    last = number
    if (healthy) logger.info(fields, 'status')
    else logger.warn({ ...fields, reason }, 'status: unhealthy')
    schedule()
  }
  const schedule = (): void => {
    cancel = clock.schedule(clock.nowMs() + INTERVAL_MS, log)
  }
  schedule()
  return () => cancel()
}
