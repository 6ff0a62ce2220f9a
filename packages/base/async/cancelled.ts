/** Reason of cancelled work. Without one each abort creates an exception with a stack trace, which takes longer than the abort itself. */
export const CANCELLED = 'cancelled'
