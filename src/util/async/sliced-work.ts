/** A long computation in small parts, each about a millisecond at most: it yields between them, so that other work gets its turn. */
export type SlicedWork<Result> = Generator<undefined, Result, undefined>

/** Does all parts at once. */
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

/**
 * Asks between two parts whether it is time to pause. Work that needs no pause is done without a promise; a pause that rejects
 * ends the work.
 */
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
