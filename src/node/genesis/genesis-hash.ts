import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Hex } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import type { Genesis } from '../../config/genesis/genesis.ts'
import { openChain } from '../parts/open-chain.ts'

/** Computes the hash of block 0 by creating it in a temporary folder. */
export const genesisHashFromFile = async (genesis: Genesis): Promise<Hex> => {
  const folder = await mkdtemp(join(tmpdir(), 'tandem-genesis-'))
  try {
    return await hashIn(folder, genesis)
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 })
  }
}

const hashIn = (folder: string, genesis: Genesis): Promise<Hex> =>
  new Promise((resolve, reject) => {
    const options = { genesis, storePath: join(folder, 'db'), stateHistory: 1, logger: silentLogger }
    openChain({ ...options, onFailure: reject })
      .then(async ({ genesisHash, store, world }) => {
        await world.close()
        await store.close()
        resolve(genesisHash)
      })
      .catch(reject)
  })
