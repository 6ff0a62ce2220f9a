import { assert } from '@tandem/base/assert.ts'
import { asBuffer } from '@tandem/base/bytes.ts'
import { CodedError, isCoded } from '@tandem/base/errors.ts'
import { type RecoveredSender, recoverSender, SENDER_REASONS, type SenderError } from './recover-sender.ts'

/*
 * Messages between the main thread and a recovery worker, numbers little-endian:
 *   request  count u32 | per transaction: size u32, bytes
 *   response per transaction 53 bytes: status u8 | hash 32 | sender 20; status 0 is success, else 1 + index in SENDER_REASONS
 */
/** Methods of a recovery worker: serves a request. */
export type RecoveryMethods = { readonly recover: (request: ArrayBuffer) => ArrayBuffer }

export type SenderResult = RecoveredSender | CodedError<SenderError>

/** Returns one result of a list. Throws CodedError<SenderError>. */
export const senderOrThrow = (result: SenderResult | undefined): RecoveredSender => {
  assert(result !== undefined, 'a result for each transaction')
  if (isCoded(result)) throw result
  return result
}

const ANSWER_BYTES = 53

export const packRequest = (raws: readonly Uint8Array[]): ArrayBuffer => {
  let size = 4
  for (const raw of raws) size += 4 + raw.byteLength
  const out = Buffer.allocUnsafeSlow(size)
  let at = out.writeUInt32LE(raws.length, 0)
  for (const raw of raws) {
    at = out.writeUInt32LE(raw.byteLength, at)
    out.set(raw, at)
    at += raw.byteLength
  }
  return out.buffer as ArrayBuffer
}

/** Runs a request in the worker: returns the results of all its transactions. */
export const recoverRequest = (request: ArrayBuffer): ArrayBuffer => {
  const bytes = Buffer.from(request)
  const count = bytes.readUInt32LE(0)
  const out = Buffer.alloc(count * ANSWER_BYTES)
  let from = 4
  for (let at = 0; at < out.byteLength; at += ANSWER_BYTES) {
    const size = bytes.readUInt32LE(from)
    recoverOne(bytes.subarray(from + 4, from + 4 + size), out, at)
    from += 4 + size
  }
  return out.buffer as ArrayBuffer
}

const recoverOne = (raw: Uint8Array, out: Buffer, at: number): void => {
  try {
    const { hash, from } = recoverSender(raw)
    out.write(hash.slice(2), at + 1, 'hex')
    out.write(from.slice(2), at + 33, 'hex')
  } catch (error) {
    if (!isCoded(error)) throw error
    out[at] = 1 + SENDER_REASONS.indexOf((error as CodedError<SenderError>).detail.reason)
  }
}

export const unpackAnswer = (answer: ArrayBuffer, at: number): SenderResult => {
  const bytes = asBuffer(new Uint8Array(answer, at * ANSWER_BYTES, ANSWER_BYTES))
  const status = bytes[0]!
  if (status !== 0) return new CodedError({ code: 'INVALID_SENDER', reason: SENDER_REASONS[status - 1]! })
  return { hash: `0x${bytes.toString('hex', 1, 33)}`, from: `0x${bytes.toString('hex', 33)}` }
}
