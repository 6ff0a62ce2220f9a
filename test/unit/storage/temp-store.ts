import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { Store, type StoreOptions } from '../../../src/storage/store.ts'

/** A directory that goes with the test. */
export const temporaryDirectory = async (): Promise<string> => {
  const path = await mkdtemp(join(tmpdir(), 'tandem-store-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}

/** A new store that goes with the test. */
export const temporaryStore = async (options?: StoreOptions): Promise<Store> => {
  const store = await Store.open(await temporaryDirectory(), options)
  onTestFinished(() => store.close())
  return store
}
