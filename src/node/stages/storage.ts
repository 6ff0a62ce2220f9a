import { isCoded } from '@tandem/base/errors.ts'
import { makeFolder } from '@tandem/base/fs/make-folder.ts'
import type { Logger } from '@tandem/base/logger.ts'
import type { Genesis } from '../../config/genesis/genesis.ts'
import { memoryShares } from '../../config/limits/storage.ts'
import { addressFromPrivateKey, signatures, unavailableProviders } from '../../crypto/signature.ts'
import { storeError } from '../../storage/errors.ts'
import { beginDev } from '../dev/dev-parts.ts'
import { genesisHashFromFile } from '../genesis/genesis-hash.ts'
import { lockKey } from '../keys/key-lock.ts'
import type { NodeDeps, NodeOptions } from '../options.ts'
import { openChain } from '../parts/open-chain.ts'
import { storePathOf } from '../snapshot/staged-store.ts'
import type { Teardown } from '../teardown.ts'

/** Base of all later stages: the options and the stored chain. */
export type StorageStage = Awaited<ReturnType<typeof openStorage>>

/** Opens the data folder and its chain, and claims the validator key. Throws as `openChain` and `lockKey` do. */
export const openStorage = async (options: NodeOptions, deps: NodeDeps, teardown: Teardown) => {
  const { genesis, dataDir, validatorKey, stateHistory, segments } = options
  const { clock, logger, onFatal } = deps
  const part = (module: string) => logger.child({ module })
  reportSignatures(part('crypto'))
  if (!options.ephemeral) makeFolder(dataDir)
  const observer =
    options.metricsPort === undefined
      ? undefined
      : (await import('../parts/metrics-observer.ts')).createMetricsObserver(teardown)
  const { ephemeral = false } = options
  const memory = memoryShares(options.memoryMib)
  const opened = await openChain({
    genesis,
    storePath: storePathOf(dataDir),
    stateHistory,
    segmentBlocks: segments?.blocks,
    memory,
    logger,
    ephemeral,
    onFailure: onFatal,
  }).catch(async error => {
    throw await withGenesisHash(error, genesis)
  })
  const { store, world, evidence, genesisHash } = opened
  teardown.add(() => store.close())
  teardown.add(() => world.close())
  teardown.add(() => evidence.written())
  if (validatorKey && options.soleSigner)
    teardown.add(await lockKey({ address: addressFromPrivateKey(validatorKey), genesisHash, dataDir }))
  const devStart = await beginDev(genesis, validatorKey, opened, clock)
  const { sources, head } = devStart ?? opened
  return { options, deps, teardown, part, observer, memory, opened, devStart, sources, head }
}

/** Completes GENESIS_MISMATCH by the hash of the given genesis, which takes a chain in a temporary folder to compute. */
const withGenesisHash = async (error: unknown, genesis: Genesis): Promise<unknown> => {
  if (!isCoded(error) || error.code !== 'GENESIS_MISMATCH') return error
  const detail = error.detail as Extract<Parameters<typeof storeError>[0], { code: 'GENESIS_MISMATCH' }>
  return storeError({ ...detail, expected: await genesisHashFromFile(genesis) })
}

const reportSignatures = (logger: Logger): void => {
  const fields = { provider: signatures().name, reasons: unavailableProviders.map(({ message }) => message) }
  if (fields.provider === 'secp256k1-native') logger.debug(fields, 'signature provider')
  else logger.warn(fields, 'signatures without the native addon: admission is several times slower')
}
