import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isCoded } from '@tandem/base/errors.ts'
import { writeNewFile } from '@tandem/base/fs/write-new-file.ts'

/*
 * The staged store of a snapshot is beside the node's own until it is complete. Then a marker file is written, and before the node opens
 * its store the next time the staged one replaces it. A crash is safe after each step: the marker stays until all are done.
 */
const MARK = 'db-staged.ready'

export const storePathOf = (dataDir: string): string => join(dataDir, 'db')
export const stagedPathOf = (dataDir: string): string => join(dataDir, 'db-staged')
const replacedPathOf = (dataDir: string): string => join(dataDir, 'db-replaced')

/** Marks the staged store as complete. */
export const markStaged = async (dataDir: string): Promise<void> => {
  try {
    await writeNewFile(join(dataDir, MARK), '')
  } catch (error) {
    if (!isCoded(error) || error.code !== 'FILE_EXISTS') throw error
  }
}

/** Replaces the node's store by a complete staged one; neither may be open. Returns true when there was one. */
export const takeStaged = async (dataDir: string): Promise<boolean> => {
  const [store, staged, replaced] = [storePathOf(dataDir), stagedPathOf(dataDir), replacedPathOf(dataDir)]
  if (!existsSync(join(dataDir, MARK))) return false
  if (existsSync(staged)) {
    if (existsSync(store)) {
      await rm(replaced, { recursive: true, force: true })
      await rename(store, replaced)
    }
    await rename(staged, store)
  }
  await rm(replaced, { recursive: true, force: true })
  await rm(`${staged}.pid`, { force: true })
  await rm(join(dataDir, MARK), { force: true })
  return true
}

/** Deletes the staged store. */
export const dropStaged = async (dataDir: string): Promise<void> => {
  await rm(stagedPathOf(dataDir), { recursive: true, force: true })
  await rm(`${stagedPathOf(dataDir)}.pid`, { force: true })
}
