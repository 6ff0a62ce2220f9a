/** Stops the process on impossible states rather than fork the chain; asserts stay on in production. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(message)
}

export class AssertionError extends Error {
  override readonly name = 'AssertionError'
}
