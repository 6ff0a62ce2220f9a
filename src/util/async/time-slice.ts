/** Work done in one turn of the event loop before others get theirs, milliseconds. */
const TURN_MS = 10

let startedMs = 0
let next: Promise<void> | undefined

/**
 * What to await before more work is done in this turn; undefined while there is time. One clock serves the whole thread: many
 * tasks that go on by promises alone share a turn, where a clock for each would let all of them have one, one after the other.
 * After waiting ask again: others may have used the new turn up.
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
