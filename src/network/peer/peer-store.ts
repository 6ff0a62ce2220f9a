import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeFolder } from '@tandem/base/fs/make-folder.ts'
import { replaceFile } from '@tandem/base/fs/replace-file.ts'
import type { Logger } from '@tandem/base/logger.ts'
import { parseJsonObject } from '@tandem/base/text.ts'
import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import type { PeerScore } from '../core/peer-scores.ts'

/** State about other nodes that is saved over a restart. */
interface PeerMemory {
  readonly scores: readonly PeerScore[]
  /** Signed records, base64. */
  readonly records: readonly string[]
  /** Sequence of this node's own record. */
  readonly sequence: number
}

const NOTHING: PeerMemory = { scores: [], records: [], sequence: 0 }
const FORMAT = 1

/** File with the state about other nodes. It is optional: a missing or damaged file is recreated. */
export class PeerStore {
  readonly #path: string | null
  readonly #logger: Logger
  #writing: Promise<void> = Promise.resolve()
  #written = ''

  /** null: nothing is saved. */
  constructor(path: string | null, logger: Logger) {
    this.#path = path
    this.#logger = logger
  }

  async load(): Promise<PeerMemory> {
    if (this.#path === null) return NOTHING
    try {
      const text = await readFile(this.#path, 'utf8')
      const memory = text.length <= NETWORK_LIMITS.storeBytes ? parseMemory(text) : undefined
      if (memory !== undefined) return memory
      this.#logger.warn({ path: this.#path }, 'peer file damaged, starting a new one')
    } catch (error) {
      const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
      if (!isMissing) this.#logger.warn({ err: error, path: this.#path }, 'peer file not read')
    }
    return NOTHING
  }

  /** Saves with one write at a time; a failure is logged, since the network continues without the file. */
  save(memory: PeerMemory): Promise<void> {
    const path = this.#path
    const text = JSON.stringify({ format: FORMAT, ...memory })
    if (path === null || text === this.#written) return this.#writing
    this.#written = text
    this.#writing = this.#writing.then(() => this.#write(path, text))
    return this.#writing
  }

  async #write(path: string, text: string): Promise<void> {
    try {
      makeFolder(dirname(path))
      await replaceFile(path, text)
    } catch (error) {
      this.#logger.warn({ err: error, path }, 'peer file not written')
    }
  }
}

/** Returns undefined when the text is not in this node's format. */
export const parseMemory = (text: string): PeerMemory | undefined => {
  const value = parseJsonObject(text)
  if (value?.['format'] !== FORMAT) return undefined
  const { records, sequence = 0 } = value
  // Files of earlier versions call the scores standings.
  const scores = value['scores'] ?? value['standings']
  if (!Array.isArray(scores) || !Array.isArray(records) || !isCount(sequence)) return undefined
  if (!scores.every(isPeerScore) || !records.every(record => typeof record === 'string')) return undefined
  return { scores: scores.slice(0, NETWORK_LIMITS.peerScores), records, sequence }
}

/** True for a number that can still be counted up. */
const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0 && value !== Number.MAX_SAFE_INTEGER

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

const isPeerScore = (value: unknown): value is PeerScore =>
  isObject(value) &&
  typeof value['key'] === 'string' &&
  value['key'].length <= 128 &&
  isCount(value['bans']) &&
  ['score', 'atMs', 'bannedUntilMs'].every(name => Number.isFinite(value[name]))
