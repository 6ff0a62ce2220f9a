import type { CrashPoint } from './crash-points.ts'

/** Machine of a node's process, from its start to its next crash. */
export interface Host {
  /** The power is off: nothing of this process runs any more. */
  readonly isDead: boolean
  /** Runs a callback later, not while the process is paused, and never after a crash. */
  later(delayMs: number, run: () => void): void
  /** Called at a point where the process may crash; returns true when it continues. */
  reaches(point: CrashPoint): boolean
}

/** Delay as a promise; never resolves on a machine without power. */
export const delayOn = (host: Host, delayMs: number): Promise<void> =>
  new Promise(resolve => host.later(delayMs, resolve))

/** Promise of a crashed process, which never resolves. */
export const never = <T>(): Promise<T> => new Promise<T>(() => {})
