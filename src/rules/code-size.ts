import type { ChainParams } from '../config/networks.ts'
import { BLOCK_BOUNDS } from '../config/protocol-bounds.ts'

/** Largest code of a contract in bytes: that of EIP-170, or the chain's own. */
export const codeSizeLimit = ({ codeSizeLimit = BLOCK_BOUNDS.codeBytes }: Pick<ChainParams, 'codeSizeLimit'>): number =>
  codeSizeLimit

/** Largest init code in bytes: twice as many (EIP-3860). */
export const initCodeSizeLimit = (params: Pick<ChainParams, 'codeSizeLimit'>): number => 2 * codeSizeLimit(params)
