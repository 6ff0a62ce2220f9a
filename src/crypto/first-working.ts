/** Returns the first implementation that loads and passes its check, with earlier errors for the log; else throws AggregateError. */
export const firstWorking = async <T>(
  loads: readonly (() => T | Promise<T>)[],
  check: (candidate: T) => void | Promise<void>,
  message: string,
): Promise<{ readonly provider: T; readonly refused: readonly Error[] }> => {
  const refused: Error[] = []
  for (const load of loads) {
    try {
      const provider = await load()
      await check(provider)
      return { provider, refused }
    } catch (error) {
      refused.push(error instanceof Error ? error : new Error(String(error)))
    }
  }
  throw new AggregateError(refused, message)
}
