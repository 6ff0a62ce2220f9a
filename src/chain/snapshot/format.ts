/** Format of snapshots (docs/decisions/0022-snapshot-sync.md): other formats are neither served nor imported. */
export const SNAPSHOT_FORMAT = 3
