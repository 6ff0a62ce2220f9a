import { readFileSync } from 'node:fs'

const LIMIT = /^Max open files +(\d+) /m

/** Returns how many files and sockets this process may have open; undefined when the system does not tell, or sets no limit. */
export const openFileLimit = (): number | undefined => {
  try {
    const soft = LIMIT.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1]
    return soft === undefined ? undefined : Number(soft)
  } catch {
    return undefined
  }
}
