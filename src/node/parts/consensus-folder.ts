import { join } from 'node:path'
import type { Hex } from '../../util/bytes.ts'

/**
 * Where a node keeps its consensus log and its watermarks. Each rewind of a development chain begins another folder, since what was
 * signed before it was for blocks that are no more.
 */
export const consensusFolder = (dataDir: string, rewinds = 0): string =>
  rewinds === 0 ? join(dataDir, 'consensus') : join(dataDir, 'consensus', `after-${rewinds}`)

const PREFIX = 'watermark-'

/** The file of what a validator signed last. */
export const watermarkPath = (folder: string, validator: Hex): string => join(folder, PREFIX + validator)

/** Whose watermark a file of that folder is. */
export const watermarkOwner = (name: string): Hex | undefined =>
  /^watermark-0x[0-9a-f]{40}$/.test(name) ? (name.slice(PREFIX.length) as Hex) : undefined
