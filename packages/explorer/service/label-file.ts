import type { Hex } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { readLimited } from '@tandem/base/fs/read-limited.ts'
import { plainText } from '../chain/plain-text.ts'
import { EXPLORER_LIMITS } from '../limits.ts'
import type { AddressLabel } from '../store/index-query.ts'

/** Thrown as CodedError for a file that cannot be used. */
type LabelFileError = { readonly code: 'LABEL_FILE_INVALID'; readonly path: string; readonly reason: string }

const MAX_LABELS = 100_000

/** Reads labels from a file of JSON, an object of names by address. Throws LABEL_FILE_INVALID. */
export const readLabels = (path: string | undefined): readonly AddressLabel[] => {
  if (path === undefined) return []
  try {
    return labelsOf(JSON.parse(readLimited(path, EXPLORER_LIMITS.labelBytes).toString('utf8')) as unknown)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new CodedError<LabelFileError>({ code: 'LABEL_FILE_INVALID', path, reason }, { cause: error })
  }
}

const labelsOf = (value: unknown): readonly AddressLabel[] => {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('it is an object of names by address')
  const entries = Object.entries(value)
  if (entries.length > MAX_LABELS) throw new Error(`it has at most ${MAX_LABELS} labels`)
  return entries.map(([address, name]) => {
    if (!/^0x[0-9a-fA-F]{40}$/.test(address)) throw new Error(`${address} is no address`)
    const text = typeof name === 'string' ? plainText(name, EXPLORER_LIMITS.token.nameChars) : null
    if (text === null) throw new Error(`the name of ${address} is no text`)
    return { address: address.toLowerCase() as Hex, name: text }
  })
}
