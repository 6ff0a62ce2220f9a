/** Format of snapshots (docs/decisions.md#0022-snapshot-sync): other formats are neither served nor imported. */
export const SNAPSHOT_FORMAT = 3
