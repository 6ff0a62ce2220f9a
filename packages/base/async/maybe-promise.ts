export type MaybePromise<T> = T | Promise<T>

/** Continues synchronously when the value is available: common reads cost no promise. */
export const andThen = <T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> =>
  value instanceof Promise ? value.then(next) : next(value)
