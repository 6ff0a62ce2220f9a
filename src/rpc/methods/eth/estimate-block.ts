import type { Context } from '../../context.ts'

/**
 * Returns the block for estimates that name none. Where each transaction gets a block at once it is the next one: its time may have been
 * set, and gas may depend on it.
 */
export const estimateBlock = ({ dev }: Pick<Context, 'dev'>): 'latest' | 'pending' =>
  dev?.mode.automine ? 'pending' : 'latest'
