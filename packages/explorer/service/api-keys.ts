import { readLimited } from '@tandem/base/fs/read-limited.ts'
import { EXPLORER_LIMITS } from '../limits.ts'
import { hashOfKey } from './request-limiter.ts'

/** Reads a file with one key a line; returns their hashes, so that the keys themselves stay nowhere in memory. */
export const readKeys = (file: string | undefined): readonly string[] =>
  file === undefined
    ? []
    : readLimited(file, EXPLORER_LIMITS.listBytes)
        .toString('utf8')
        .split('\n')
        .map(line => line.trim())
        .filter(line => line !== '' && !line.startsWith('#'))
        .map(hashOfKey)
