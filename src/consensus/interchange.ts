import { LIMITS } from '../config/limits.ts'
import type { SigningDomain } from '../primitives/vote.ts'
import { bytesToHex, type Hex, hexToBytes } from '../util/bytes.ts'
import { CodedError } from '../util/errors.ts'
import { comparePositions, SIGN_STEP, type SignedMark, type SignStep } from './watermark.ts'

/*
 * What a validator signed last, as a text that goes with its key to another machine: the interchange format of EIP-3076 with this
 * chain's positions (reference/consensus.md 6). Numbers are strings. Only the watermark travels, which EIP-3076 calls minimal: nothing
 * at or below it is signed again, but for the very same statement. To be used only while the validator is stopped, at both ends.
 */

/** The only version there is. */
const FORMAT = '1'
const STEPS = Object.keys(SIGN_STEP) as readonly SignStep[]

export type InterchangeError =
  | { readonly code: 'INTERCHANGE_MALFORMED'; readonly reason: string }
  /** Made for another chain. */
  | { readonly code: 'INTERCHANGE_FOREIGN_CHAIN'; readonly chainId: number; readonly genesisHash: Hex }
  /** Says nothing of this key: it must not be taken for "never signed". */
  | { readonly code: 'INTERCHANGE_OTHER_KEY'; readonly address: Hex }

/** `last`: null when this key never signed, which is worth saying too. */
export const exportWatermark = (
  { chainId, genesisHash }: SigningDomain,
  address: Hex,
  last: SignedMark | null,
): string => {
  const signed = last === null ? [] : [entryOf(last)]
  const metadata = { format: FORMAT, chainId: String(chainId), genesisHash }
  return `${JSON.stringify({ metadata, data: [{ address, signed }] }, null, 2)}\n`
}

const entryOf = ({ number, round, step, digest, signature }: SignedMark) => ({
  height: String(number),
  round: String(round),
  step,
  signingRoot: bytesToHex(digest),
  signature: bytesToHex(signature),
})

/**
 * The watermark after an import: the highest of all positions the text gives for this key and the one there is. null when neither
 * knows of any. Throws CodedError<InterchangeError>.
 */
export const importWatermark = (
  text: string,
  { chainId, genesisHash }: SigningDomain,
  address: Hex,
  last: SignedMark | null,
): SignedMark | null => {
  const { metadata, data } = objectOf(parse(text), 'the file')
  const made = objectOf(metadata, 'metadata')
  if (made['format'] !== FORMAT) throw malformed(`metadata.format is not "${FORMAT}"`)
  const theirs = {
    chainId: numberOf(made['chainId'], 'chainId'),
    genesisHash: hexOf(made['genesisHash'], 32, 'genesisHash'),
  }
  if (theirs.chainId !== chainId || theirs.genesisHash !== genesisHash)
    throw new CodedError<InterchangeError>({ code: 'INTERCHANGE_FOREIGN_CHAIN', ...theirs })
  const keys = listOf(data, 'data').map(key => objectOf(key, 'an entry of data'))
  const own = keys.filter(key => hexOf(key['address'], 20, 'address') === address)
  if (own.length === 0) throw new CodedError<InterchangeError>({ code: 'INTERCHANGE_OTHER_KEY', address })
  const marks = own.flatMap(({ signed }) => listOf(signed, 'signed').map(markOf))
  return marks.reduce<SignedMark | null>(higher, last)
}

/** At the same position the one there is stays: its signature can be given again. */
const higher = (a: SignedMark | null, b: SignedMark): SignedMark => (a !== null && comparePositions(a, b) >= 0 ? a : b)

/** Without its signature a statement cannot be given out again: then its digest is one that nothing has. */
const markOf = (entry: unknown): SignedMark => {
  const { height, round, step, signingRoot, signature } = objectOf(entry, 'an entry of signed')
  if (!STEPS.includes(step as SignStep)) throw malformed(`step is none of ${STEPS.join(', ')}`)
  const isWhole = signingRoot !== undefined && signature !== undefined
  return {
    number: numberOf(height, 'height'),
    round: numberOf(round, 'round'),
    step: step as SignStep,
    digest: isWhole ? hexToBytes(hexOf(signingRoot, 32, 'signingRoot')) : new Uint8Array(32),
    signature: isWhole ? hexToBytes(hexOf(signature, 65, 'signature')) : new Uint8Array(65),
  }
}

const malformed = (reason: string) => new CodedError<InterchangeError>({ code: 'INTERCHANGE_MALFORMED', reason })

const parse = (text: string): unknown => {
  if (text.length > LIMITS.consensus.interchangeBytes) throw malformed('too long')
  try {
    return JSON.parse(text)
  } catch {
    throw malformed('not JSON')
  }
}

const objectOf = (value: unknown, what: string): Record<string, unknown> => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed(`${what} is not an object`)
  return value as Record<string, unknown>
}

const listOf = (value: unknown, what: string): readonly unknown[] => {
  if (!Array.isArray(value)) throw malformed(`${what} is not a list`)
  return value
}

const numberOf = (value: unknown, what: string): number => {
  const number = typeof value === 'string' && /^(0|[1-9]\d{0,15})$/.test(value) ? Number(value) : Number.NaN
  if (!Number.isSafeInteger(number)) throw malformed(`${what} is not a decimal number in quotes`)
  return number
}

const hexOf = (value: unknown, bytes: number, what: string): Hex => {
  if (typeof value !== 'string' || value.length !== 2 + 2 * bytes || !/^0x[0-9a-fA-F]*$/.test(value))
    throw malformed(`${what} is not 0x and ${2 * bytes} hex digits`)
  return value.toLowerCase() as Hex
}
