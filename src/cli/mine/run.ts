import { delayUntil } from '@tandem/base/async/delay.ts'
import { systemClock } from '@tandem/base/clock.ts'
import { messageWithCause } from '@tandem/base/errors.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { Miner } from '../../powchain/mining/miner.ts'
import { printWarning } from '../shared/output.ts'
import type { MineFlags } from './flags.ts'
import { RemoteWork } from './remote-work.ts'
import { StratumWork } from './stratum-work.ts'

/** Time between two requests for work. */
const POLL_MS = 500
/** Interval of log lines about the hash rate, which is also reported to the node then. */
const REPORT_MS = 5_000

/** Mines for a node or a Stratum server until a signal ends it. */
export const runMine = async (flags: MineFlags): Promise<void> => {
  const stopping = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort())
  const { stratum } = flags
  await (stratum === undefined ? mineByRpc(flags, stopping.signal) : mineByStratum(flags, stratum, stopping.signal))
}

const announce = (to: string, threads: number): void => {
  process.stdout.write(`Mining for ${to} with ${threads} ${threads === 1 ? 'thread' : 'threads'}; Ctrl-C stops.\n`)
}

const mineByRpc = async ({ rpc, coinbase, threads, duty }: MineFlags, stopping: AbortSignal): Promise<void> => {
  announce(rpc, threads)
  const source = new RemoteWork(rpc, coinbase)
  const miner = new Miner({ source, threads, duty, clock: systemClock, logger: silentLogger })
  miner.start()
  let reportMs = systemClock.nowMs() + REPORT_MS
  let said = ''
  while (!stopping.aborted) {
    try {
      await source.refresh()
      miner.refresh()
      if (systemClock.nowMs() >= reportMs) {
        reportMs += REPORT_MS
        printRate(miner, source)
        await source.submitHashrate(miner.hashrate())
      }
      said = ''
    } catch (error) {
      const text = messageWithCause(error)
      // Logged once, however long the node is unreachable.
      if (text !== said) printWarning(text)
      said = text
    }
    await pause(POLL_MS, stopping)
  }
  await miner.stop()
}

const mineByStratum = async (
  { coinbase, worker, threads, duty }: MineFlags,
  { host, port }: NonNullable<MineFlags['stratum']>,
  stopping: AbortSignal,
): Promise<void> => {
  if (coinbase === undefined) throw new Error('--stratum needs --coinbase ADDRESS: the payee of mined headers.')
  announce(`${host}:${port}`, threads)
  const source: StratumWork = new StratumWork({
    host,
    port,
    user: `${coinbase}.${worker}`,
    clock: systemClock,
    onJob: () => miner.refresh(),
    onNews: text => process.stdout.write(`${text}\n`),
  })
  const miner: Miner = new Miner({ source, threads, duty, clock: systemClock, logger: silentLogger })
  miner.start()
  source.start()
  while (!stopping.aborted) {
    await pause(REPORT_MS, stopping)
    if (!stopping.aborted) printRate(miner, source)
  }
  await source.stop()
  await miner.stop()
}

const printRate = (miner: Miner, { counts }: Pick<RemoteWork, 'counts'>): void => {
  const { accepted, refused } = counts
  process.stdout.write(`${formatRate(miner.hashrate())}  ${accepted} accepted, ${refused} refused\n`)
}

/** 1234567 as 1.23 MH/s. */
export const formatRate = (perSecond: number): string => {
  const units = ['H/s', 'kH/s', 'MH/s', 'GH/s', 'TH/s']
  let value = perSecond
  let at = 0
  for (; value >= 1_000 && at < units.length - 1; at++) value /= 1_000
  return `${value.toFixed(at === 0 ? 0 : 2)} ${units[at]}`
}

const pause = async (ms: number, stopping: AbortSignal): Promise<void> => {
  if (stopping.aborted) return
  const { over, end } = delayUntil(systemClock, systemClock.nowMs() + ms)
  stopping.addEventListener('abort', end)
  await over
  stopping.removeEventListener('abort', end)
}
