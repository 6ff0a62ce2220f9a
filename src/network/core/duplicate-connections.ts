/** One of two connections between the same two nodes. */
interface DuplicateConnection {
  /** Opened by the other side. */
  readonly inbound: boolean
  /** Process id of the other side, random at each start. */
  readonly instance: string
}

/**
 * Decides which of two connections between the same nodes stays. When both dialed at once, both keep the one opened by the node
 * with the lower id: both sides see both connections and choose alike. When one side opened both, or the other side restarted, the
 * old connection is dead and the new one stays.
 */
export const keepsNewConnection = (
  ids: { readonly self: string; readonly peer: string },
  old: DuplicateConnection,
  fresh: DuplicateConnection,
): boolean => {
  if (old.instance !== fresh.instance || old.inbound === fresh.inbound) return true
  return fresh.inbound === ids.peer < ids.self
}
