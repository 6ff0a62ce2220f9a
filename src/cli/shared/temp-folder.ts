import { mkdtempSync } from 'node:fs'
import { lstat, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Store } from '../../storage/store.ts'
import { isCoded } from '../../util/errors.ts'

/** The folder's name tells whose it is: the command, the process id, and six characters by chance. */
const NAME = /^tandem-(?:devnet|fixture|localnet)-([0-9]{1,10})-[0-9A-Za-z]{6}$/
/** A folder is younger than this before its store is locked, if its process cannot be seen from here. */
const YOUNG_MS = 60_000
/** Removed at one start; what is left waits for the next. */
const MOST_REMOVED = 16
/** A store that was cut short may still make a file while its folder goes. */
export const REMOVE_OPTIONS = { recursive: true, force: true, maxRetries: 5, retryDelay: 20 }

/** A new folder for a chain that goes with its process. */
export const makeTempFolder = (command: 'devnet' | 'fixture' | 'localnet', root = tmpdir()): string =>
  mkdtempSync(join(root, `tandem-${command}-${process.pid}-`))

/**
 * Removes what chains left behind that were killed: folders of this program's name, of this user, whose process is gone and
 * whose store nobody has open. Answers their names. A folder that cannot be looked at or removed stays.
 */
export const removeDeadFolders = async (root = tmpdir(), nowMs = Date.now()): Promise<readonly string[]> => {
  const removed: string[] = []
  for (const name of await readdir(root)) {
    if (removed.length === MOST_REMOVED) break
    const path = join(root, name)
    if (!(await isDead(name, path, nowMs))) continue
    await rm(path, REMOVE_OPTIONS)
    removed.push(name)
  }
  return removed
}

const isDead = async (name: string, path: string, nowMs: number): Promise<boolean> => {
  const owner = NAME.exec(name)?.[1]
  if (owner === undefined || isAlive(Number(owner))) return false
  const entry = await lstat(path).catch(() => undefined)
  if (entry === undefined || !entry.isDirectory() || entry.uid !== process.getuid?.()) return false
  return nowMs - entry.mtimeMs > YOUNG_MS && !(await hasOpenStore(path))
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/**
 * Processes of another container share folders but not process ids: the lock of the store tells of them. A localnet has one in each
 * node's folder.
 */
const hasOpenStore = async (path: string): Promise<boolean> => {
  for (const folder of ['.', ...(await readdir(path))]) if (await isLocked(join(path, folder, 'db'))) return true
  return false
}

const isLocked = async (path: string): Promise<boolean> => {
  try {
    await (await Store.open(path, { createIfMissing: false })).close()
    return false
  } catch (error) {
    return isCoded(error) && error.code === 'STORE_LOCKED'
  }
}
