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
      const now = ancestors()
      if (now === undefined || started === undefined || now === started) return
      clearInterval(timer)
      act()
    }, POLL_MS).unref()
    stops.push(() => clearInterval(timer))
  }
  return () => {
    for (const stop of stops) stop()
  }
}

/** Signals that end a program. */
export const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Calls `act` at each signal and at the end of the parent process, until the returned function is called. */
export const onEnd = (act: () => void): (() => void) => {
  for (const signal of SIGNALS) process.on(signal, act)
  const forget = onParentExit(act)
  return () => {
    forget()
    for (const signal of SIGNALS) process.off(signal, act)
  }
}

/**
 * Ids of the parent and, where the system tells it, of its parent: npm starts a shell that starts the command. undefined when it cannot be
 * told now: a process that has no open file left must not take its parent for gone.
 */
const ancestors = (): string | undefined => {
  const { ppid } = process
  try {
    // The name in parentheses may hold spaces.
    return `${ppid} ${readFileSync(`/proc/${ppid}/stat`, 'latin1').split(') ').at(-1)?.split(' ')[1]}`
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' || code === 'ESRCH' ? `${ppid} ` : undefined
  }
}
