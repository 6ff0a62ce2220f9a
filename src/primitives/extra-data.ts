import type { Hex } from '../util/bytes.ts'
import type { Certificate } from './certificate.ts'

/** What the header's extraData holds (DESIGN 3): RLP of these, in this order, all of it hashed. */
export interface ExtraData {
  readonly version: number
  /** At most 32 bytes of the operator's choice. */
  readonly vanity: Uint8Array
  readonly proposer: Hex
  /** null in genesis and in block 1 (genesis has no certificate). */
  readonly parentCertificate: Certificate | null
  /** Id of the final proof tip; zero until the first proof header. */
  readonly proofTip: Hex
  /** keccak of the RLP list of the body's proof headers. */
  readonly proofHeadersHash: Hex
  readonly evidenceRoot: Hex
}
