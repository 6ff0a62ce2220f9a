import { type Hex, ZERO_HASH } from '@tandem/base/bytes.ts'
import { CodedError, type Mismatch } from '@tandem/base/errors.ts'
import type { ChainParams } from '../config/networks.ts'
import { BLOCK_BOUNDS } from '../config/protocol-bounds.ts'
import type { Block } from '../primitives/block.ts'
import { decodeExtraData, type ExtraData } from '../primitives/consensus/extra-data.ts'
import { EMPTY_LIST_HASH, type Header, ZERO_NONCE } from '../primitives/header.ts'
import { decodeOrMalformed } from '../primitives/rlp/malformed.ts'
import { nextBaseFee } from './money/base-fee.ts'

/** Smallest distance of timestamps, seconds: the whole seconds of the block time; 0 below a second and in instant mode. */
export const minTimestampStepSeconds = (blockTimeMs: number): number => Math.floor(blockTimeMs / 1000)

/** Latest valid timestamp of a header at a wall-clock time, unix seconds (docs/design/consensus.md#pacing). */
export const maxTimestamp = (nowMs: number): number => Math.floor(nowMs / 1000) + BLOCK_BOUNDS.futureSeconds

/** Header that cannot follow its parent: its value and the required one. */
export type HeaderError =
  | Mismatch<'HEADER_NUMBER' | 'HEADER_TIMESTAMP_TOO_EARLY' | 'HEADER_TIMESTAMP_IN_FUTURE', number>
  | Mismatch<'HEADER_GAS_LIMIT' | 'HEADER_GAS_USED' | 'HEADER_DIFFICULTY', bigint>
  | Mismatch<'HEADER_PARENT_HASH' | 'HEADER_NONCE' | 'HEADER_MIX_HASH' | 'HEADER_UNCLES', Hex>
  | { readonly code: 'HEADER_BASE_FEE'; readonly have: bigint | null; readonly want: bigint }
  | { readonly code: 'HEADER_EXTRA_DATA'; readonly reason: string }
  | { readonly code: 'HEADER_FOREIGN_MEMBER'; readonly member: string }

const fail = (detail: HeaderError): never => {
  throw new CodedError(detail)
}

/** Checks a header by parent and time, not execution or certificate. Returns the extra data. Throws CodedError<HeaderError>. */
export const checkHeader = (
  header: Header,
  parent: Pick<Block, 'header' | 'hash'>,
  params: ChainParams,
  nowMs: number,
): ExtraData => {
  const { number, parentHash } = header
  const wantNumber = parent.header.number + 1
  if (number !== wantNumber) fail({ code: 'HEADER_NUMBER', have: number, want: wantNumber })
  if (parentHash !== parent.hash) fail({ code: 'HEADER_PARENT_HASH', have: parentHash, want: parent.hash })
  checkConstants(header)
  if (params.devHelpers) checkFreely(header, parent.header, params)
  else {
    checkTimestamp(header.timestamp, parent.header.timestamp, params.blockTimeMs, nowMs)
    checkGas(header, parent.header, params)
  }
  return checkExtraData(header)
}

const checkConstants = (header: Header): void => {
  const { difficulty, nonce, mixHash, sha3Uncles } = header
  if (difficulty !== 1n) fail({ code: 'HEADER_DIFFICULTY', have: difficulty, want: 1n })
  if (nonce !== ZERO_NONCE) fail({ code: 'HEADER_NONCE', have: nonce, want: ZERO_NONCE })
  if (mixHash !== ZERO_HASH) fail({ code: 'HEADER_MIX_HASH', have: mixHash, want: ZERO_HASH })
  if (sha3Uncles !== EMPTY_LIST_HASH) fail({ code: 'HEADER_UNCLES', have: sha3Uncles, want: EMPTY_LIST_HASH })
  for (const member of FOREIGN_MEMBERS) {
    if (header[member] !== undefined) fail({ code: 'HEADER_FOREIGN_MEMBER', member })
  }
}

/** Header members of other chains, allowed only in fixture mode. */
const FOREIGN_MEMBERS = [
  'withdrawalsRoot',
  'blobGasUsed',
  'excessBlobGas',
  'parentBeaconBlockRoot',
  'requestsHash',
] as const satisfies readonly (keyof Header)[]

/** On a development chain times, fees and limits are set from outside: they only have to be possible. */
const checkFreely = (header: Header, parent: Header, params: ChainParams): void => {
  const { timestamp, baseFeePerGas } = header
  if (timestamp < parent.timestamp)
    fail({ code: 'HEADER_TIMESTAMP_TOO_EARLY', have: timestamp, want: parent.timestamp })
  checkGasUsed(header, params)
  if (baseFeePerGas === undefined) fail({ code: 'HEADER_BASE_FEE', have: null, want: 0n })
}

const checkTimestamp = (have: number, parent: number, blockTimeMs: number, nowMs: number): void => {
  const earliest = parent + minTimestampStepSeconds(blockTimeMs)
  if (have < earliest) fail({ code: 'HEADER_TIMESTAMP_TOO_EARLY', have, want: earliest })
  const latest = maxTimestamp(nowMs)
  if (have > latest) fail({ code: 'HEADER_TIMESTAMP_IN_FUTURE', have, want: latest })
}

const checkGas = (header: Header, parent: Header, params: ChainParams): void => {
  const { gasLimit, baseFeePerGas } = header
  if (gasLimit !== params.blockGasLimit) fail({ code: 'HEADER_GAS_LIMIT', have: gasLimit, want: params.blockGasLimit })
  checkGasUsed(header, params)
  const want = nextBaseFee(parent, params.baseFee)
  if (baseFeePerGas !== want) fail({ code: 'HEADER_BASE_FEE', have: baseFeePerGas ?? null, want })
}

/** Checked before execution, which stops at the gas the header names (docs/design/consensus.md). */
const checkGasUsed = ({ gasLimit, gasUsed }: Header, { maxBlockExecutionGas }: ChainParams): void => {
  const most = maxBlockExecutionGas < gasLimit ? maxBlockExecutionGas : gasLimit
  if (gasUsed > most) fail({ code: 'HEADER_GAS_USED', have: gasUsed, want: most })
}

const checkExtraData = (header: Header): ExtraData => {
  const extra = decodeOrMalformed('HEADER_EXTRA_DATA', () => decodeExtraData(header.extraData))
  // Genesis has no certificate; every other block has one, and its child carries it.
  const wanted = header.number > 1
  if (wanted !== (extra.parentCertificate !== null)) {
    fail({ code: 'HEADER_EXTRA_DATA', reason: wanted ? 'no parent certificate' : 'a certificate of genesis' })
  }
  return extra
}
