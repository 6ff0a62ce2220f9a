import type { CrashPoint } from '../plan/plan.ts'

/** The machine a node's process runs on, from its start to its next crash. */
export interface Host {
  /** Power is gone: nothing of this process happens any more. */
  readonly isDead: boolean
  /** Runs something later, not while the process is paused, and never after it died. */
  later(delayMs: number, run: () => void): void
  /** The process stands at a place where it might die; answers whether it goes on. */
  reaches(point: CrashPoint): boolean
}

/** The same as something to wait for; never resolves on a machine without power. */
export const delayOn = (host: Host, delayMs: number): Promise<void> =>
  new Promise(resolve => host.later(delayMs, resolve))

/** What a dead process waits for. */
export const never = <T>(): Promise<T> => new Promise<T>(() => {})
