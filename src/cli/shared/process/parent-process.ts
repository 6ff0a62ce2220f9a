import { readFileSync } from 'node:fs'

const POLL_MS = 500

/**
 * Calls `act` when the process that started this one has ended, even when it was killed: the launcher and `tandem localnet` hold a
 * channel to it; npm and npx are watched by their process ids. Any other parent, such as a shell, may end without this process. Returns
 * the function that ends the watch.
 */
export const onParentExit = (act: () => void): (() => void) => {
  const stops: (() => void)[] = []
  if (process.connected) {
    process.once('disconnect', act)
    stops.push(() => process.off('disconnect', act))
  }
  if (process.env['npm_lifecycle_event'] !== undefined) {
    const started = ancestors()
    const timer = setInterval(() => {
      if (ancestors() === started) return
      clearInterval(timer)
      act()
    }, POLL_MS).unref()
    stops.push(() => clearInterval(timer))
  }
  return () => {
    for (const stop of stops) stop()
  }
}

/** Ids of the parent and, where the system tells it, of its parent: npm starts a shell that starts the command. */
const ancestors = (): string => `${process.ppid} ${parentOf(process.ppid) ?? ''}`

const parentOf = (pid: number): string | undefined => {
  try {
    // The name in parentheses may hold spaces.
    return readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ')[1]
  } catch {
    return undefined
  }
}
