/** Format of snapshots (docs/decisions/0022-snapshot-sync.md): another one is neither served nor taken in. */
export const SNAPSHOT_FORMAT = 2
