import { readFileSync } from 'node:fs'
import { hashOfKey } from './request-limiter.ts'

/** Reads a file with one key a line; returns their hashes, so that the keys themselves stay nowhere in memory. */
export const readKeys = (file: string | undefined): readonly string[] =>
  file === undefined
    ? []
    : readFileSync(file, 'utf8')
        .split('\n')
        .map(line => line.trim())
        .filter(line => line !== '' && !line.startsWith('#'))
        .map(hashOfKey)
