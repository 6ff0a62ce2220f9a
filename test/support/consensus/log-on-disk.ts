import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import type { WalRecord } from '../../../src/consensus/core/types.ts'
import { nodeFileSystem } from '../../../src/consensus/wal/file-system.ts'
import { messageDigest } from '../../../src/consensus/wal/sign-message.ts'
import { openWal } from '../../../src/consensus/wal/wal.ts'
import { decodeRecords } from '../../../src/consensus/wal/wal-records.ts'
import { comparePositions, openWatermark, type SignPosition } from '../../../src/consensus/wal/watermark.ts'
import { type Block, decodeBlock, encodeBlock } from '../../../src/primitives/block.ts'
import type { SignedMessage } from '../../../src/primitives/consensus/message.ts'
import type { SigningDomain } from '../../../src/primitives/consensus/vote.ts'
import { Said } from './said.ts'

/** Log and watermark of a stopped validator, compared with all their earlier contents. */
export class ConsensusMemory {
  readonly #domain: SigningDomain
  readonly #onSigned: (message: SignedMessage) => void
  readonly #said = new Said()
  readonly #digests = new Map<string, Hex>()
  readonly #decided = new Map<number, Hex>()
  #position: SignPosition | null = null
  #problems: string[] = []

  /** `onSigned` is told of each own message that the log holds. */
  constructor(domain: SigningDomain, onSigned: (message: SignedMessage) => void = () => {}) {
    this.#domain = domain
    this.#onSigned = onSigned
  }

  /** Heights the log says were decided, with the hash of each. */
  get decided(): ReadonlyMap<number, Hex> {
    return this.#decided
  }

  get size(): number {
    return this.#said.size
  }

  /** Reads the folder `consensus` of a data directory whose node is stopped; answers all contradictions so far. */
  async read(folder: string): Promise<readonly string[]> {
    const wal = await openWal(nodeFileSystem, join(folder, 'wal'))
    if (wal.condition === 'corrupt') this.#problems.push('the log is corrupt')
    const codec = { encode: encodeBlock, decode: async (bytes: Uint8Array) => decodeBlock(bytes) as unknown as Block }
    const records = await decodeRecords(wal.takeEntries(), codec)
    for (const record of records) this.#take(record)
    await this.#readWatermark(folder, records)
    return [...this.#problems, ...this.#said.contradictions]
  }

  #take(record: WalRecord): void {
    if (record.type === 'decided') this.#decide(record.block.header.number, record.block.hash)
    if (record.type === 'end') this.#decide(record.number, record.blockHash)
    const message = record.type === 'signed' ? record.vote : record.type === 'proposal' ? record.proposal : undefined
    if (message === undefined) return
    this.#said.add(message)
    this.#onSigned(message)
    this.#digest(placeOf({ ...message, step: message.type }), bytesToHex(messageDigest(this.#domain, message)))
  }

  #decide(number: number, hash: Hex): void {
    const before = this.#decided.get(number)
    if (before !== undefined && before !== hash) this.#problems.push(`height ${number}: ${before}, then ${hash}`)
    this.#decided.set(number, hash)
  }

  #digest(place: string, digest: Hex): void {
    const before = this.#digests.get(place)
    if (before !== undefined && before !== digest) this.#problems.push(`${place}: two digests`)
    this.#digests.set(place, digest)
  }

  async #readWatermark(folder: string, records: readonly WalRecord[]): Promise<void> {
    const name = readdirSync(folder).find(file => file.startsWith('watermark-'))
    if (name === undefined) return
    const { condition, last } = await openWatermark(nodeFileSystem, join(folder, name))
    if (condition !== 'sound') this.#problems.push(`the watermark is ${condition}`)
    if (last === null) return
    if (this.#position !== null && comparePositions(last, this.#position) < 0)
      this.#problems.push(`the watermark fell from ${placeOf(this.#position)} to ${placeOf(last)}`)
    this.#position = last
    this.#digest(placeOf(last), bytesToHex(last.digest))
    // The log is written first, so the watermark never says more than it (unless the log was begun anew since).
    const signed = records.some(({ type }) => type === 'signed')
    if (signed && !this.#digests.has(placeOf(last))) this.#problems.push(`${placeOf(last)} is not in the log`)
  }
}

const placeOf = ({ number, round, step }: SignPosition): string => `${number}/${round}/${step}`
