import type { Server } from 'node:net'
import { EMPTY_BYTES, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import type { Clock } from '@tandem/base/clock.ts'
import type { Chain } from '../../../chain/chain.ts'
import type { CallService } from '../../../evm/calls/types.ts'

/** Delay after the first connection, so that its own first request is answered before. */
const WARM_CALLS_MS = 500

interface WarmCallsOptions {
  /** HTTP server of the public port. */
  readonly server: Server
  readonly calls: Pick<CallService, 'call'>
  readonly chain: Pick<Chain, 'headBlock'>
  readonly clock: Clock
}

/**
 * Starts the call worker when the first client has connected, with an empty creation that runs through all of it: a first call
 * that starts it itself waits 0.3 s. A node without clients, as most validators are, saves the thread and its 40 MiB. Returns the
 * function that cancels it.
 */
export const warmUpCalls = ({ server, calls, chain, clock }: WarmCallsOptions): (() => void) => {
  let cancel = (): void => {}
  const warm = (): void => {
    const { number } = chain.headBlock.header
    const nothing = { from: ZERO_ADDRESS, to: null, value: 0n, data: EMPTY_BYTES }
    // The first real call meets and reports the same failure.
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
