import { readFile } from 'node:fs/promises'
import { replaceFile } from '@tandem/base/fs/replace-file.ts'
import type { Logger } from '@tandem/base/logger.ts'
import type { DevHelpers } from '../../chain/dev/dev-helpers.ts'

/** Loads the state from a file if it exists. Throws STATE_MALFORMED or STATE_TOO_LARGE. */
export const loadStateFile = async (path: string, helpers: DevHelpers, logger: Logger): Promise<void> => {
  const bytes = await contentOf(path)
  if (bytes === undefined) return
  await helpers.load(bytes)
  logger.info({ path, bytes: bytes.byteLength }, 'state loaded')
}

/**
 * Saves the state to a file atomically: a failure leaves the old file complete. A name that ends in .gz makes it gzip; anvil reads and
 * writes plain JSON.
 */
export const saveStateFile = async (path: string, helpers: DevHelpers, logger: Logger): Promise<void> => {
  const bytes = await helpers.dump(path.endsWith('.gz') ? 'gzip' : 'json')
  await replaceFile(path, bytes)
  logger.info({ path, bytes: bytes.byteLength }, 'state written')
}

const contentOf = async (path: string): Promise<Uint8Array | undefined> => {
  try {
    return await readFile(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
