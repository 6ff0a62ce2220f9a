import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { undefinedIfCoded } from '@tandem/base/errors.ts'
import { type Header, wordBytes } from '../header.ts'
import { decodeOrMalformed, malformed } from '../rlp/malformed.ts'
import { encodeRlp } from '../rlp/rlp.ts'
import { type RlpCursor, readWholeList } from '../rlp/rlp-cursor.ts'
import { type Certificate, certificateItem, readCertificate } from './certificate.ts'

/** Content of the header's extraData (docs/design/blocks.md#extra-data): RLP of these fields in order, all covered by the block hash. */
export interface ExtraData {
  readonly version: number
  /** At most 32 bytes of the operator's choice. */
  readonly vanity: Uint8Array
  readonly proposer: Hex
  /** null in genesis and in block 1 (genesis has no certificate). */
  readonly parentCertificate: Certificate | null
  /** Id of the final proof tip; zero until the first proof header. */
  readonly proofTip: Hex
  /** keccak256 of the RLP list of the body's proof headers. */
  readonly proofHeadersHash: Hex
  readonly evidenceRoot: Hex
}

/** The only layout so far. */
export const EXTRA_DATA_VERSION = 1
const VANITY_BYTES = 32

export const encodeExtraData = (extra: ExtraData): Uint8Array =>
  encodeRlp([
    Uint8Array.of(extra.version),
    extra.vanity,
    hexToBytes(extra.proposer),
    extra.parentCertificate === null ? [] : certificateItem(extra.parentCertificate),
    wordBytes(extra.proofTip),
    wordBytes(extra.proofHeadersHash),
    wordBytes(extra.evidenceRoot),
  ])

/** Decodes the extraData of a header from outside: undefined when malformed. */
export const readExtraData = ({ extraData }: Pick<Header, 'extraData'>): ExtraData | undefined =>
  undefinedIfCoded(() => decodeExtraData(extraData))

/** Throws EXTRA_DATA_MALFORMED, also for an unknown version. */
export const decodeExtraData = (bytes: Uint8Array): ExtraData =>
  decodeOrMalformed('EXTRA_DATA_MALFORMED', () => readWholeList(bytes, readItems))

const readItems = (cursor: RlpCursor): ExtraData => {
  const version = cursor.safeUint()
  if (version !== EXTRA_DATA_VERSION) {
    throw malformed(
      'EXTRA_DATA_MALFORMED',
      `extra data of version ${version}, want ${EXTRA_DATA_VERSION}: upgrade this node`,
    )
  }
  return {
    version,
    vanity: cursor.boundedBytes(VANITY_BYTES),
    proposer: cursor.hex(20),
    // The empty list means none.
    parentCertificate: cursor.takeEmptyList() ? null : readCertificate(cursor),
    proofTip: cursor.hex(32),
    proofHeadersHash: cursor.hex(32),
    evidenceRoot: cursor.hex(32),
  }
}
