import type { Clock } from '../clock.ts'

/** Wait that can be cut short. */
interface Delay {
  readonly over: Promise<void>
  readonly end: () => void
}

export const delayUntil = (clock: Clock, atMs: number): Delay => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const cancel = clock.schedule(atMs, resolve)
  return {
    over: promise,
    end() {
      cancel()
      resolve()
    },
  }
}

/** Resolves at `atMs`, or when `stopping` aborts. */
export const waitUntil = async (clock: Clock, atMs: number, stopping: AbortSignal): Promise<void> => {
  if (atMs <= clock.nowMs() || stopping.aborted) return
  const { over, end } = delayUntil(clock, atMs)
  stopping.addEventListener('abort', end)
  await over
  stopping.removeEventListener('abort', end)
}

/** Lets other work of the thread go on: resolves in the next turn of the event loop. */
export const yieldToEventLoop = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
