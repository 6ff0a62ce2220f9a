/** Crash points: `now`, or the next time the node reaches one of these. */
export const CRASH_POINTS = [
  'now',
  'before a write',
  'after a write',
  'after a sync',
  'in the middle of its sends',
  'after sending a commit',
  'before the database has the block',
  'after the database has the block',
] as const
export type CrashPoint = (typeof CRASH_POINTS)[number]
