/** Milliseconds of work per event-loop turn before other work runs. */
const TURN_MS = 10

let startedMs = 0
let next: Promise<void> | undefined

/**
 * Returns a promise to await before more work in this turn; undefined while there is time. One clock serves the whole thread:
 * tasks that continue by promises alone share a time slice, since with a clock each all of them would run in turn without a
 * break. After the wait call it again: others may have used up the new slice.
 */
export const sliceOver = (): Promise<void> | undefined => {
  const nowMs = performance.now()
  if (next === undefined) {
    startedMs = nowMs
    next = new Promise(resolve =>
      setImmediate(() => {
        next = undefined
        resolve()
      }),
    )
    return undefined
  }
  return nowMs - startedMs < TURN_MS ? undefined : next
}
