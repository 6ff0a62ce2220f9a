import type { PoolPort } from '../chain/types.ts'
import { isActive } from '../config/forks.ts'
import type { ChainParams } from '../config/networks.ts'
import { withoutSidecar } from '../primitives/blob-sidecar.ts'

/**
 * The pool of a chain with blobs as clients see it: a transaction with blobs is handed in with its sidecar, of the form that the block
 * after `head()` asks for, and waits without it, for nobody gets it from here.
 */
export const blobPool = (pool: PoolPort, { forks }: ChainParams, head: () => number): PoolPort => ({
  submit: async bytes => pool.submit(withoutSidecar(bytes, isActive(forks, 'osaka', head() + 1) ? 1 : 0)),
  get: hash => pool.get(hash),
  nextNonce: address => pool.nextNonce(address),
  counts: () => pool.counts(),
  content: () => pool.content(),
  quarantined: () => pool.quarantined(),
  onPending: listener => pool.onPending(listener),
})
