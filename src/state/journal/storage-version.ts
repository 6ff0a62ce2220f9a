let last = 0

/** Returns a number that no storage of this thread has had: engines keep words from one message to the next while it is the same. */
export const nextStorageVersion = (): number => ++last
