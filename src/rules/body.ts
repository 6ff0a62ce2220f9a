import type { Hex } from '@tandem/base/bytes.ts'
import { CodedError, isCoded, type Mismatch, resultOrCoded } from '@tandem/base/errors.ts'
import { BLOCK_BOUNDS } from '../config/protocol-bounds.ts'
import { type DecodedBlock, hashByteStrings } from '../primitives/block.ts'
import type { ExtraData } from '../primitives/consensus/extra-data.ts'
import { transactionsRoot } from '../primitives/roots.ts'

/** Body that does not match its header, or is too large. */
export type BodyError =
  | { readonly code: 'BODY_TOO_LARGE'; readonly bytes: number; readonly limit: number }
  | {
      readonly code: 'BODY_TRANSACTION_TOO_LARGE'
      readonly index: number
      readonly bytes: number
      readonly limit: number
    }
  | Mismatch<'BODY_TRANSACTIONS_ROOT' | 'BODY_PROOF_HEADERS' | 'BODY_EVIDENCE', Hex>

/** Bodies that passed the check. Blocks are immutable, and each is checked more than once on its way into the chain. */
const whole = new WeakSet<object>()

/** Checks sizes (docs/design/evm-rules.md#limits) and the three hashes by which a header names its body. Throws CodedError<BodyError>. */
export const checkBody = (
  block: Pick<DecodedBlock, 'header' | 'transactions' | 'proofHeaders' | 'evidence'>,
  extra: ExtraData,
): void => {
  if (whole.has(block)) return
  checkSizes(block.transactions)
  const root = transactionsRoot(block.transactions)
  const { transactionsRoot: wanted } = block.header
  if (root !== wanted) fail({ code: 'BODY_TRANSACTIONS_ROOT', have: root, want: wanted })
  const proofs = hashByteStrings(block.proofHeaders)
  if (proofs !== extra.proofHeadersHash)
    fail({ code: 'BODY_PROOF_HEADERS', have: proofs, want: extra.proofHeadersHash })
  const evidence = hashByteStrings(block.evidence)
  if (evidence !== extra.evidenceRoot) fail({ code: 'BODY_EVIDENCE', have: evidence, want: extra.evidenceRoot })
  whole.add(block)
}

/** Marks a copy of a checked block as checked. */
export const keepChecked = (checked: object, copy: object): void => {
  if (whole.has(checked)) whole.add(copy)
}

/** Returns true when a body matches its header. */
export const isBodyOf = (block: Parameters<typeof checkBody>[0], extra: ExtraData): boolean =>
  !isCoded(resultOrCoded(() => checkBody(block, extra)))

const checkSizes = (transactions: DecodedBlock['transactions']): void => {
  let bytes = 0
  transactions.forEach(({ raw }, index) => {
    const limit = BLOCK_BOUNDS.transactionBytes
    if (raw.byteLength > limit) fail({ code: 'BODY_TRANSACTION_TOO_LARGE', index, bytes: raw.byteLength, limit })
    bytes += raw.byteLength
  })
  if (bytes > BLOCK_BOUNDS.bodyBytes) fail({ code: 'BODY_TOO_LARGE', bytes, limit: BLOCK_BOUNDS.bodyBytes })
}

const fail = (detail: BodyError): never => {
  throw new CodedError(detail)
}
