import type { Hex } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { KEY_LIMITS } from '../../config/limits/keys.ts'
import type { VoteType } from './vote.ts'

/*
 * Signatures of validators on a chain, for moving a validator to another machine: JSON after EIP-3076, with QBFT's rounds and steps in
 * place of epochs (docs/design/consensus.md#watermark). Numbers are decimal strings.
 *
 *   { "metadata": { "format": "tandem-signing/1", "genesisHash": "0x..." },
 *     "data": [{ "validator": "0x...",
 *                "signed": [{ "number": "12", "round": "0", "step": "commit", "digest": "0x...", "signature": "0x..." }] }] }
 */

/** One signature: its position, the 32-byte digest, and the signature (65 bytes) unless the file omits it. */
export interface SignedPosition {
  readonly number: number
  readonly round: number
  readonly step: VoteType
  readonly digest: Hex
  readonly signature: Hex | null
}

export interface SignerRecord {
  readonly validator: Hex
  /** Unordered; only the highest position matters for further signing. */
  readonly signed: readonly SignedPosition[]
}

export interface SigningRecord {
  /** Signatures of another chain contradict nothing here. */
  readonly genesisHash: Hex
  readonly signers: readonly SignerRecord[]
}

type SigningRecordError = { readonly code: 'SIGNING_RECORD_INVALID'; readonly reason: string }

const FORMAT = 'tandem-signing/1'

export const signingRecordToJson = ({ genesisHash, signers }: SigningRecord): string => {
  const data = signers.map(({ validator, signed }) => ({ validator, signed: signed.map(positionToJson) }))
  return `${JSON.stringify({ metadata: { format: FORMAT, genesisHash }, data }, null, 2)}\n`
}

const positionToJson = ({ number, round, step, digest, signature }: SignedPosition) => ({
  number: number.toString(),
  round: round.toString(),
  step,
  digest,
  ...(signature !== null && { signature }),
})

/** Throws CodedError<SigningRecordError>. Unknown members are ignored. */
export const signingRecordFromJson = (text: string): SigningRecord => {
  const root = objectOf(parse(text), 'the file')
  const metadata = objectOf(root['metadata'], 'metadata')
  if (metadata['format'] !== FORMAT) throw invalid(`metadata.format is not "${FORMAT}"`)
  const signers = listOf(root['data'], 'data', KEY_LIMITS.recordSigners).map((entry, index) => {
    const at = `data[${index}]`
    const { validator, signed } = objectOf(entry, at)
    const positions = listOf(signed, `${at}.signed`, KEY_LIMITS.recordPositions)
    return {
      validator: hexOf(validator, `${at}.validator`, 20),
      signed: positions.map((position, place) => positionOf(position, `${at}.signed[${place}]`)),
    }
  })
  return { genesisHash: hexOf(metadata['genesisHash'], 'metadata.genesisHash', 32), signers }
}

const STEPS: readonly VoteType[] = ['roundChange', 'proposal', 'prepare', 'commit']

const positionOf = (value: unknown, at: string): SignedPosition => {
  const { number, round, step: name, digest, signature } = objectOf(value, at)
  const step = STEPS.find(known => known === name)
  if (step === undefined) throw invalid(`${at}.step is none of ${STEPS.join(', ')}`)
  return {
    number: integerOf(number, `${at}.number`),
    round: integerOf(round, `${at}.round`),
    step,
    digest: hexOf(digest, `${at}.digest`, 32),
    signature: signature === undefined ? null : hexOf(signature, `${at}.signature`, 65),
  }
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw invalid(`not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
}

const objectOf = (value: unknown, at: string): Readonly<Record<string, unknown>> => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid(`${at} is no object`)
  return value as Record<string, unknown>
}

const listOf = (value: unknown, at: string, most: number): readonly unknown[] => {
  if (!Array.isArray(value) || value.length > most) throw invalid(`${at} is no list of at most ${most}`)
  return value
}

const hexOf = (value: unknown, at: string, size: number): Hex => {
  if (typeof value !== 'string' || value.length !== 2 + 2 * size || !/^0x[0-9a-f]+$/i.test(value))
    throw invalid(`${at} is no hex string of ${size} bytes`)
  return value.toLowerCase() as Hex
}

const integerOf = (value: unknown, at: string): number => {
  const number = typeof value === 'string' && /^(0|[1-9][0-9]{0,15})$/.test(value) ? Number(value) : Number.NaN
  if (!Number.isSafeInteger(number)) throw invalid(`${at} is no whole number as a decimal string`)
  return number
}

const invalid = (reason: string): CodedError<SigningRecordError> =>
  new CodedError({ code: 'SIGNING_RECORD_INVALID', reason })
