import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { Store, type StoreOptions } from '../../../src/storage/store.ts'

/** A directory that goes with the test, and what a store writes beside it. */
export const temporaryDirectory = async (): Promise<string> => {
  const parent = await mkdtemp(join(tmpdir(), 'tandem-store-'))
  onTestFinished(() => rm(parent, { recursive: true, force: true }))
  const path = join(parent, 'db')
  await mkdir(path)
  return path
}

/** A new store that goes with the test. */
export const temporaryStore = async (options?: StoreOptions): Promise<Store> => {
  const store = await Store.open(await temporaryDirectory(), options)
  onTestFinished(() => store.close())
  return store
}
