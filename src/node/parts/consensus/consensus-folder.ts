import { join } from 'node:path'
import type { Hex } from '@tandem/base/bytes.ts'

/** Folder of consensus log and watermarks; another after each rewind of a development chain, as former signatures were for removed blocks. */
export const consensusFolder = (dataDir: string, rewinds = 0): string =>
  rewinds === 0 ? join(dataDir, 'consensus') : join(dataDir, 'consensus', `after-${rewinds}`)

const PREFIX = 'watermark-'

/** Path of a validator's watermark file. */
export const watermarkPath = (folder: string, validator: Hex): string => join(folder, PREFIX + validator)

/** Returns the validator of a watermark file name. */
export const watermarkOwner = (name: string): Hex | undefined =>
  /^watermark-0x[0-9a-f]{40}$/.test(name) ? (name.slice(PREFIX.length) as Hex) : undefined
