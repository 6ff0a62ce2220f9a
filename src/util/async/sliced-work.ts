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
