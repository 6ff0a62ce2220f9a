import { Miner } from '../../powchain/mining/miner.ts'
import { delayUntil } from '../../util/async/delay.ts'
import { systemClock } from '../../util/clock.ts'
import { silentLogger } from '../../util/logger.ts'
import { printWarning } from '../shared/output.ts'
import type { MineFlags } from './command.ts'
import { RemoteWork } from './remote-work.ts'

/** Time between two requests for work. */
const POLL_MS = 500
/** Interval of log lines about the hash rate, which is also reported to the node then. */
const REPORT_MS = 5_000

/** Mines for a node until a signal ends it. */
export const runMine = async ({ rpc, coinbase, threads, duty }: MineFlags): Promise<void> => {
  const source = new RemoteWork(rpc, coinbase)
  const miner = new Miner({ source, threads, duty, clock: systemClock, logger: silentLogger })
  const stopping = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort())
  process.stdout.write(`Mining for ${rpc} with ${threads} ${threads === 1 ? 'thread' : 'threads'}; Ctrl-C stops.\n`)
  miner.start()
  let reportMs = systemClock.nowMs() + REPORT_MS
  let said = ''
  while (!stopping.signal.aborted) {
    try {
      await source.refresh()
      miner.refresh()
      if (systemClock.nowMs() >= reportMs) {
        reportMs += REPORT_MS
        await report(miner, source)
      }
      said = ''
    } catch (error) {
      const text = reasonOf(error)
      // Logged once, however long the node is unreachable.
      if (text !== said) printWarning(text)
      said = text
    }
    await pause(stopping.signal)
  }
  await miner.stop()
}

const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message
}

const report = async (miner: Miner, source: RemoteWork): Promise<void> => {
  const rate = miner.hashrate()
  const { accepted, refused } = source.counts
  process.stdout.write(`${formatRate(rate)}  ${accepted} accepted, ${refused} refused\n`)
  await source.submitHashrate(rate)
}

/** 1234567 as 1.23 MH/s. */
export const formatRate = (perSecond: number): string => {
  const units = ['H/s', 'kH/s', 'MH/s', 'GH/s', 'TH/s']
  let value = perSecond
  let at = 0
  for (; value >= 1_000 && at < units.length - 1; at++) value /= 1_000
  return `${value.toFixed(at === 0 ? 0 : 2)} ${units[at]}`
}

const pause = async (stopping: AbortSignal): Promise<void> => {
  if (stopping.aborted) return
  const { over, end } = delayUntil(systemClock, systemClock.nowMs() + POLL_MS)
  stopping.addEventListener('abort', end)
  await over
  stopping.removeEventListener('abort', end)
}
