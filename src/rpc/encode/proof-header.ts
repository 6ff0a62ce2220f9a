import { toQuantity } from '@tandem/base/bytes.ts'
import type { ProofHeaderInfo } from '../ports.ts'

/** Returns a proof header as clients see it. */
export const encodeProofHeaderInfo = (header: ProofHeaderInfo): object => ({
  ...header,
  number: toQuantity(header.number),
  anchorNumber: toQuantity(header.anchorNumber),
  timestamp: toQuantity(header.timestamp),
  includedIn: header.includedIn === null ? null : toQuantity(header.includedIn),
})
