import { mkdtempSync } from 'node:fs'
import { lstat, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isCoded } from '@tandem/base/errors.ts'
import { Store } from '../storage/store.ts'

/** Parts of a folder's name: the command, the process id, and six random characters. */
const NAME = /^tandem-(?:devnet|fixture|localnet)-([0-9]{1,10})-[0-9A-Za-z]{6}$/
/** Age below which a folder may not have locked its store yet, if its process is not visible from here. */
const YOUNG_MS = 60_000
/** Limit of folders removed per start; the rest waits for the next. */
const MAX_REMOVED = 16
/** A killed store may still create a file while its folder is removed. */
export const REMOVE_OPTIONS = { recursive: true, force: true, maxRetries: 5, retryDelay: 20 }

/** Creates a folder for a chain that ends with its process. */
export const makeTempFolder = (command: 'devnet' | 'fixture' | 'localnet', root = tmpdir()): string =>
  mkdtempSync(join(root, `tandem-${command}-${process.pid}-`))

/** Removes folders of killed chains of this user, whose store is not open; returns their names. Unremovable ones stay. */
export const removeDeadFolders = async (root = tmpdir(), nowMs = Date.now()): Promise<readonly string[]> => {
  const removed: string[] = []
  for (const name of await readdir(root)) {
    if (removed.length === MAX_REMOVED) break
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

/** Containers share folders, not process ids: the lock of the store, in a localnet each node's, shows that a process runs. */
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
