import { randomBytes } from 'node:crypto'
import { waitUntil } from '@tandem/base/async/delay.ts'
import { bytesToHex, type Hex, toQuantity } from '@tandem/base/bytes.ts'
import { systemClock } from '@tandem/base/clock.ts'
import { messageWithCause } from '@tandem/base/errors.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { PROOF_SEEDS } from '../../crypto/proof-hash.ts'
import type { StratumOptions } from '../../node/options.ts'
import { Miner, type MinerWork, type WorkSource } from '../../powchain/mining/miner.ts'
import { httpCall } from '../shared/http-call.ts'
import { printWarning } from '../shared/output.ts'
import { StratumWork } from './stratum-work.ts'

/** Parsed options of `tandem mine`. */
export interface MineFlags {
  readonly rpc: string
  readonly stratum?: StratumOptions
  readonly coinbase?: Hex
  readonly worker: string
  readonly threads: number
  readonly duty: number
}

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
  if (coinbase === undefined) throw new Error('--stratum needs --coinbase ADDRESS, which mined headers pay.')
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

const pause = (ms: number, stopping: AbortSignal): Promise<void> =>
  waitUntil(systemClock, systemClock.nowMs() + ms, stopping)

/** An answer of getWork and its like has a few hundred bytes. */
const ANSWER_BYTES = 16 * 1024
/** Requests without work after which it is not the next block that is awaited. */
const REFUSALS = 10
const NO_COINBASE =
  'the node has no work for a miner that names no coinbase: give --coinbase ADDRESS, or start the node with --mine-coinbase'
const [SEED_1, SEED_2] = PROOF_SEEDS.map(bytesToHex)

/** Error response of a node to a miner. */
export class NodeRefusal extends Error {}

/** Work of a node over JSON-RPC. */
export class RemoteWork implements WorkSource {
  /** Submitted solutions. */
  readonly counts = { accepted: 0, refused: 0 }
  readonly #url: string
  readonly #coinbase: Hex | undefined
  /** Id that distinguishes this miner's hash rate from those of others. */
  readonly #id = bytesToHex(randomBytes(32))
  #work: MinerWork | undefined
  /** Consecutive requests that got none. */
  #refusals = 0

  constructor(url: string, coinbase: Hex | undefined) {
    this.#url = url
    this.#coinbase = coinbase
  }

  job(): MinerWork | undefined {
    return this.#work
  }

  /** Requests a mining job. Rejects with NodeRefusal, or with the error of the connection; there is no job then. */
  async refresh(): Promise<void> {
    this.#work = undefined
    try {
      this.#work = workFrom(await this.#request('native_getWork', this.#coinbase === undefined ? [] : [this.#coinbase]))
    } catch (error) {
      if (!(error instanceof NodeRefusal) || !/no mining work available/.test(error.message)) throw error
      if (++this.#refusals >= REFUSALS && this.#coinbase === undefined) throw new NodeRefusal(NO_COINBASE)
      return
    }
    this.#refusals = 0
  }

  async submitWork(nonce: Hex, sealHash: Hex, mixHash: Hex): Promise<boolean> {
    // The solution is lost when the node is unreachable; the threads go on.
    const isAccepted =
      (await this.#request('native_submitWork', [nonce, sealHash, mixHash]).catch(() => false)) === true
    this.counts[isAccepted ? 'accepted' : 'refused']++
    this.#work = undefined
    return isAccepted
  }

  async submitHashrate(rate: number): Promise<void> {
    await this.#request('native_submitHashrate', [toQuantity(Math.round(rate)), this.#id])
  }

  async #request(method: string, params: readonly unknown[]): Promise<unknown> {
    const text = await httpCall(this.#url)(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })).catch(error => {
      const message = `${this.#url} does not respond and is tried again; check --rpc, and that the node runs`
      throw new Error(message, { cause: error.cause ?? error })
    })
    if (text.length > ANSWER_BYTES) throw new NodeRefusal('a response that is too long')
    const { result, error } = JSON.parse(text) as { result?: unknown; error?: { code: number; message: string } }
    if (error?.code === -32_601)
      throw new NodeRefusal(`${this.#url} hands out no work: name the operator port of the node (--operator-port)`)
    if (error !== undefined) throw new NodeRefusal(error.message)
    return result
  }
}

const workFrom = (answer: unknown): MinerWork => {
  const parts = Array.isArray(answer) ? (answer as unknown[]) : []
  const [sealHash, seed, target] = parts
  if (![sealHash, seed, target].every(part => typeof part === 'string' && /^0x[0-9a-f]{64}$/.test(part)))
    throw new NodeRefusal('the node returned something that is no work')
  if (seed !== SEED_1 && seed !== SEED_2)
    throw new NodeRefusal('the node wants a hash function that this program does not know: upgrade it')
  return { sealHash: sealHash as Hex, version: seed === SEED_2 ? 2 : 1, target: BigInt(target as Hex) }
}
