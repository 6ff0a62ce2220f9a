import type { Server } from 'node:net'
import type { Chain } from '../../chain/chain.ts'
import type { CallService } from '../../evm/calls/types.ts'
import { EMPTY_BYTES, ZERO_ADDRESS } from '../../util/bytes.ts'
import type { Clock } from '../../util/clock.ts'

/** After the first connection: its own first answer comes before. */
const WARM_CALLS_MS = 500

export interface WarmCallsOptions {
  /** Of the public port. */
  readonly server: Server
  readonly calls: Pick<CallService, 'call'>
  readonly chain: Pick<Chain, 'headBlock'>
  readonly clock: Clock
}

/**
 * Starts the thread for calls when the first client has connected, by a creation of nothing that passes through all of it: a first
 * call that does so itself waits 0.3 s. A node without clients, as most validators are, does without the thread and its 40 MiB.
 * Answers how to give it up.
 */
export const warmUpCalls = ({ server, calls, chain, clock }: WarmCallsOptions): (() => void) => {
  let cancel = (): void => {}
  const warm = (): void => {
    const { number } = chain.headBlock.header
    const nothing = { from: ZERO_ADDRESS, to: null, value: 0n, data: EMPTY_BYTES }
    // A failure is met again, and told, by the first who calls.
    calls.call({ number, message: nothing }, '').catch(() => {})
  }
  const onConnection = (): void => {
    cancel = clock.schedule(clock.nowMs() + WARM_CALLS_MS, warm)
  }
  server.once('connection', onConnection)
  return () => {
    server.off('connection', onConnection)
    cancel()
  }
}
