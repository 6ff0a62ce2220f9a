/** Runs work; returns its result and the turns of the event loop meanwhile. */
export const countTurns = async <T>(
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly turns: number }> => {
  let turns = 0
  let isOver = false
  const count = (): void => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const result = await work()
  isOver = true
  return { result, turns }
}
