/** Impossible states stop the process rather than fork the chain; asserts stay on in production. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(message)
}

export class AssertionError extends Error {
  override readonly name = 'AssertionError'
}

/** Marks a branch the types say cannot be reached. */
export const unreachable = (value: never): never => {
  throw new AssertionError(`unreachable: ${String(value)}`)
}
