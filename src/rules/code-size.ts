import { LIMITS } from '../config/limits.ts'
import type { ChainParams } from '../config/networks.ts'

/** Bytes of a contract's code (EIP-170), or what the chain has in its place. */
export const codeSizeLimit = ({ codeSizeLimit = LIMITS.block.codeBytes }: Pick<ChainParams, 'codeSizeLimit'>): number =>
  codeSizeLimit

/** Bytes of init code: twice as many (EIP-3860). */
export const initCodeSizeLimit = (params: Pick<ChainParams, 'codeSizeLimit'>): number => 2 * codeSizeLimit(params)
