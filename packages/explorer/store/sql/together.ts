/**
 * Runs parts of one transaction at the same time, so that a database in another process works on one while the rows of another are made.
 * Rejects with the first error after all have ended: none may write when the transaction is over.
 */
export const together = async <T extends readonly Promise<unknown>[]>(
  ...parts: T
): Promise<{ -readonly [P in keyof T]: Awaited<T[P]> }> => {
  await Promise.allSettled(parts)
  return Promise.all(parts)
}
