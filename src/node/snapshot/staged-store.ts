import { access, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isCoded } from '../../util/errors.ts'
import { writeNewFile } from '../../util/fs/write-new-file.ts'

/*
 * A store that a snapshot makes lies beside the node's own until it is whole. Then a mark is written, and before the node opens its store
 * the next time the staged one takes its place. Each step can be the last before a crash: the mark stays until all are done.
 */
const MARK = 'db-staged.ready'

export const storePathOf = (dataDir: string): string => join(dataDir, 'db')
export const stagedPathOf = (dataDir: string): string => join(dataDir, 'db-staged')
const replacedPathOf = (dataDir: string): string => join(dataDir, 'db-replaced')

const exists = async (path: string): Promise<boolean> => {
  try {
    await access(path)
    return true
  } catch {
    return false
  }
}

/** The staged store is whole. */
export const markStaged = async (dataDir: string): Promise<void> => {
  try {
    await writeNewFile(join(dataDir, MARK), '')
  } catch (error) {
    if (!isCoded(error) || error.code !== 'FILE_EXISTS') throw error
  }
}

/** Puts a staged store that is whole in the place of the node's own; none may be open. Answers whether there was one. */
export const takeStaged = async (dataDir: string): Promise<boolean> => {
  const [store, staged, replaced] = [storePathOf(dataDir), stagedPathOf(dataDir), replacedPathOf(dataDir)]
  if (!(await exists(join(dataDir, MARK)))) return false
  if (await exists(staged)) {
    if (await exists(store)) {
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

/** A snapshot is not wanted any more. */
export const dropStaged = async (dataDir: string): Promise<void> => {
  await rm(stagedPathOf(dataDir), { recursive: true, force: true })
  await rm(`${stagedPathOf(dataDir)}.pid`, { force: true })
}
