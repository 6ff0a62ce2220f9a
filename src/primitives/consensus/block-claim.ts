import type { Hex } from '@tandem/base/bytes.ts'
import type { Certificate } from './certificate.ts'
import type { ProposalHead } from './proposal.ts'

/** Known part of a consensus message with a block before the block's body is decoded. */
export type BlockClaim =
  | { readonly type: 'proposal'; readonly head: ProposalHead }
  | { readonly type: 'body'; readonly blockHash: Hex }
  | {
      readonly type: 'decided'
      readonly number: number
      readonly blockHash: Hex
      readonly certificate: Certificate
    }
