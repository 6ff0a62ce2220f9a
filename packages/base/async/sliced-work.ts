/** Long computation in small parts of about a millisecond at most: it yields between them for other work. */
export type SlicedWork<Result> = Generator<undefined, Result, undefined>

/** Runs all parts without pauses. */
export const finishSlicedWork = <Result>(slicedWork: SlicedWork<Result>): Result => {
  for (;;) {
    const part = slicedWork.next()
    if (part.done === true) return part.value
  }
}

const continueWork = async <Result>(
  slicedWork: SlicedWork<Result>,
  pauseIfDue: () => Promise<void> | undefined,
  firstPause: Promise<void>,
): Promise<Result> => {
  await firstPause
  for (;;) {
    const part = slicedWork.next()
    if (part.done === true) return part.value
    const pause = pauseIfDue()
    if (pause !== undefined) await pause
  }
}

/** Checks for a pause between parts. Work without a pause creates no promise; a pause that rejects ends the work. */
export const runSlicedWork = <Result>(
  slicedWork: SlicedWork<Result>,
  pauseIfDue: () => Promise<void> | undefined,
): Result | Promise<Result> => {
  for (;;) {
    const part = slicedWork.next()
    if (part.done === true) return part.value
    const pause = pauseIfDue()
    if (pause !== undefined) return continueWork(slicedWork, pauseIfDue, pause)
  }
}

const PART_BYTES = 256 * 1024
/** Cost of an item besides its bytes. */
const ITEM_BYTES = 512

/**
 * Returns a function that counts the bytes of items as they are handled, and returns true where a part ends. Work on a few hundred items
 * is one part, so it never waits for other work.
 */
export const partCounter = (): ((bytes: number) => boolean) => {
  let done = 0
  return bytes => {
    done += bytes + ITEM_BYTES
    if (done < PART_BYTES) return false
    done = 0
    return true
  }
}
