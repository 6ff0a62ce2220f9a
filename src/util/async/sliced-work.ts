/** A long computation in small parts, each about a millisecond at most: it yields between them, so that other work gets its turn. */
export type Work<Result> = Generator<undefined, Result, undefined>

/** Does all parts at once. */
export const finishWork = <Result>(work: Work<Result>): Result => {
  for (;;) {
    const part = work.next()
    if (part.done === true) return part.value
  }
}

const continueWork = async <Result>(
  work: Work<Result>,
  pauseIfDue: () => Promise<void> | undefined,
  firstPause: Promise<void>,
): Promise<Result> => {
  await firstPause
  for (;;) {
    const part = work.next()
    if (part.done === true) return part.value
    const pause = pauseIfDue()
    if (pause !== undefined) await pause
  }
}

/**
 * Asks between two parts whether it is time to pause. Work that needs no pause is done without a promise; a pause that rejects
 * ends the work.
 */
export const runWork = <Result>(
  work: Work<Result>,
  pauseIfDue: () => Promise<void> | undefined,
): Result | Promise<Result> => {
  for (;;) {
    const part = work.next()
    if (part.done === true) return part.value
    const pause = pauseIfDue()
    if (pause !== undefined) return continueWork(work, pauseIfDue, pause)
  }
}
