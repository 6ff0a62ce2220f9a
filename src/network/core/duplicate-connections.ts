/** One of two connections between the same two nodes. */
export interface DuplicateConnection {
  /** The other side opened it. */
  readonly inbound: boolean
  /** Of the other side's process: another one after each start. */
  readonly instance: string
}

/**
 * Two nodes that dial each other at once keep the connection that the one with the lower id opened: both sides see both and choose
 * alike. Of two opened by the same side, or when the other side has restarted, the old one is dead and the fresh one stays.
 */
export const keepsNewConnection = (
  ids: { readonly self: string; readonly peer: string },
  old: DuplicateConnection,
  fresh: DuplicateConnection,
): boolean => {
  if (old.instance !== fresh.instance || old.inbound === fresh.inbound) return true
  return fresh.inbound === ids.peer < ids.self
}
