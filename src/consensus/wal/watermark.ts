import { crc32 } from 'node:zlib'
import { assert } from '@tandem/base/assert.ts'
import { asBuffer, bytesEqual } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import type { DurableFile, FileSystem } from './file-system.ts'

/** Place of a signature among all of one key. */
export interface SignPosition {
  readonly number: number
  readonly round: number
  readonly step: SignStep
}

/** Order in which one round may be signed: the round change that leads to it comes first. */
const SIGN_STEP = { roundChange: 0, proposal: 1, prepare: 2, commit: 3 } as const
type SignStep = keyof typeof SIGN_STEP

export interface LastSignature extends SignPosition {
  readonly digest: Uint8Array
  readonly signature: Uint8Array
}

type WatermarkError = {
  readonly code: 'SIGNING_REFUSED'
  readonly last: SignPosition
  readonly asked: SignPosition
}

export type WatermarkCondition = 'missing' | 'sound' | 'corrupt'

/**
 * Signer's record of its last signature, separate from the log and stricter: positions only grow, and one position always gets
 * the same signature (docs/design/consensus.md#watermark). It protects against a lost or restored log.
 *
 * File: two slots of a page each, written alternately, each with a sequence number and a checksum. A torn write damages only the
 * newer slot, whose signature had not left the process yet; the older one remains valid. This costs one small overwrite and one
 * fdatasync per batch, where replacing the file would cost a new file, a rename and two more syncs.
 */
export interface Watermark {
  readonly condition: WatermarkCondition
  /** Last signed position; null when this signer never signed. */
  readonly last: LastSignature | null
  /** Returns the earlier signature for exactly this content; null when it may be signed now. Throws SIGNING_REFUSED otherwise. */
  check(position: SignPosition, digest: Uint8Array): Uint8Array | null
  /** Records a new signature, which must not leave the process before the record is durable. */
  advance(mark: LastSignature): void
  readonly isDirty: boolean
  /** Creates the file when missing: if the log is missing later, the file shows that it was lost. */
  create(): Promise<void>
  /** Takes the current mark; the returned function writes it and resolves when it is durable. */
  take(): () => Promise<void>
  close(): Promise<void>
}

const MAGIC = 0x314d5754 // "TWM1"
const SLOT_BYTES = 4096
const RECORD_BYTES = 4 + 4 + 1 + 8 + 8 + 1 + 32 + 65 + 4

export const comparePositions = (a: SignPosition, b: SignPosition): number =>
  a.number - b.number || a.round - b.round || SIGN_STEP[a.step] - SIGN_STEP[b.step]

/** Implements Watermark.check for a last signature. */
export const checkWatermark = (
  last: LastSignature | null,
  position: SignPosition,
  digest: Uint8Array,
): Uint8Array | null => {
  if (last === null) return null
  const order = comparePositions(position, last)
  if (order > 0) return null
  if (order === 0 && bytesEqual(digest, last.digest)) return last.signature
  const { number, round, step } = last
  throw new CodedError<WatermarkError>({ code: 'SIGNING_REFUSED', last: { number, round, step }, asked: position })
}

export const openWatermark = async (files: FileSystem, path: string): Promise<Watermark> => {
  const content = await files.read(path)
  if (content === undefined) return new FileWatermark(files, path, 'missing', null, 0)
  const slots = [readSlot(content, 0), readSlot(content, SLOT_BYTES)].filter(slot => slot !== null)
  const newest = slots.sort((a, b) => b.sequence - a.sequence)[0]
  if (newest === undefined) return new FileWatermark(files, path, 'corrupt', null, 0)
  return new FileWatermark(files, path, 'sound', newest.mark, newest.sequence)
}

class FileWatermark implements Watermark {
  readonly condition: WatermarkCondition
  readonly #files: FileSystem
  readonly #path: string
  #file: DurableFile | null = null
  #last: LastSignature | null
  #sequence: number
  #dirty = false

  constructor(
    files: FileSystem,
    path: string,
    condition: WatermarkCondition,
    last: LastSignature | null,
    sequence: number,
  ) {
    this.#files = files
    this.#path = path
    this.condition = condition
    this.#last = last
    this.#sequence = sequence
  }

  get last(): LastSignature | null {
    return this.#last
  }

  get isDirty(): boolean {
    return this.#dirty
  }

  check(position: SignPosition, digest: Uint8Array): Uint8Array | null {
    return checkWatermark(this.#last, position, digest)
  }

  advance(mark: LastSignature): void {
    assert(this.#last === null || comparePositions(mark, this.#last) > 0, 'the watermark only rises')
    this.#last = mark
    this.#dirty = true
  }

  async create(): Promise<void> {
    if (this.condition === 'missing') this.#file ??= await this.#openFile()
  }

  take(): () => Promise<void> {
    const mark = this.#last
    if (!this.#dirty || mark === null) return async () => {}
    this.#dirty = false
    return () => this.#write(mark)
  }

  async #write(mark: LastSignature): Promise<void> {
    this.#file ??= await this.#openFile()
    this.#sequence++
    this.#file.write(slotOf(this.#sequence, mark), (this.#sequence % 2) * SLOT_BYTES)
    await this.#file.sync()
  }

  async close(): Promise<void> {
    const file = this.#file
    this.#file = null
    await file?.close()
  }

  /** A new file begins with two valid empty slots, so that two invalid ones always mean damage. */
  async #openFile(): Promise<DurableFile> {
    if (this.condition !== 'sound' && this.#sequence === 0) {
      const content = new Uint8Array(2 * SLOT_BYTES)
      content.set(slotOf(0, null), 0)
      content.set(slotOf(1, null), SLOT_BYTES)
      await this.#files.replace(this.#path, content)
      this.#sequence = 1
    }
    return this.#files.open(this.#path)
  }
}

const STEPS: readonly SignStep[] = ['roundChange', 'proposal', 'prepare', 'commit']

const slotOf = (sequence: number, mark: LastSignature | null): Uint8Array => {
  const slot = Buffer.alloc(RECORD_BYTES)
  slot.writeUInt32LE(MAGIC, 0)
  slot.writeUInt32LE(sequence % 2 ** 32, 4)
  if (mark !== null) {
    slot.writeUInt8(1, 8)
    slot.writeDoubleLE(mark.number, 9)
    slot.writeDoubleLE(mark.round, 17)
    slot.writeUInt8(SIGN_STEP[mark.step], 25)
    slot.set(mark.digest, 26)
    slot.set(mark.signature, 58)
  }
  slot.writeUInt32LE(crc32(slot.subarray(0, RECORD_BYTES - 4)), RECORD_BYTES - 4)
  return slot
}

const readSlot = (content: Uint8Array, at: number): { sequence: number; mark: LastSignature | null } | null => {
  if (content.byteLength < at + RECORD_BYTES) return null
  const slot = asBuffer(content).subarray(at, at + RECORD_BYTES)
  if (slot.readUInt32LE(0) !== MAGIC) return null
  if (slot.readUInt32LE(RECORD_BYTES - 4) !== crc32(slot.subarray(0, RECORD_BYTES - 4))) return null
  const sequence = slot.readUInt32LE(4)
  const step = STEPS[slot.readUInt8(25)]
  if (slot.readUInt8(8) === 0 || step === undefined) return { sequence, mark: null }
  const mark = {
    number: slot.readDoubleLE(9),
    round: slot.readDoubleLE(17),
    step,
    digest: new Uint8Array(slot.subarray(26, 58)),
    signature: new Uint8Array(slot.subarray(58, 123)),
  }
  return { sequence, mark }
}
