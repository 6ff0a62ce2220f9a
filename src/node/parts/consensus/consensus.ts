import { join } from 'node:path'
import { type Hex, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import type { Clock } from '@tandem/base/clock.ts'
import { makeFolder } from '@tandem/base/fs/make-folder.ts'
import { getOrMake } from '@tandem/base/get-or-make.ts'
import type { Logger } from '@tandem/base/logger.ts'
import type { Council } from '../../../chain/council/council.ts'
import type { ChainParams } from '../../../config/networks.ts'
import { createConsensusEngine } from '../../../consensus/engine/engine.ts'
import type { ConsensusEngine } from '../../../consensus/engine/types.ts'
import type { EvidencePort } from '../../../consensus/evidence/evidence.ts'
import type { ConsensusMetrics, SyncedFile } from '../../../consensus/monitor/metrics.ts'
import { type ExecutionPort, type NetworkPort, nullNetwork } from '../../../consensus/ports.ts'
import { type FileSystem, nodeFileSystem, timedFileSystem } from '../../../consensus/wal/file-system.ts'
import { memoryWal, memoryWatermark } from '../../../consensus/wal/memory-wal.ts'
import { openWal } from '../../../consensus/wal/wal.ts'
import { openWatermark } from '../../../consensus/wal/watermark.ts'
import type { RecoverMany } from '../../../crypto/recovery/known-senders.ts'
import { addressFromPrivateKey, recoverAddress, sign } from '../../../crypto/signature.ts'
import type { ValidatorSigner } from '../../../primitives/consensus/vote.ts'
import { blockCodec } from './block-codec.ts'
import { watermarkPath } from './consensus-folder.ts'
import { reportedCommittee } from './validator-status.ts'

export interface ConsensusPartsOptions {
  readonly execution: ExecutionPort
  readonly council: Council
  readonly evidence: EvidencePort
  /** Omitted: no peers. */
  readonly network?: NetworkPort
  readonly recovery: RecoverMany
  readonly params: ChainParams
  readonly genesisHash: Hex
  /** Folder of the log and the watermark; undefined: they end with the process. */
  readonly folder: string | undefined
  readonly validatorKey: Uint8Array | null
  readonly trustMissingLog?: boolean | undefined
  readonly beganWithSnapshot?: boolean
  readonly metrics?: ConsensusMetrics | undefined
  readonly clock: Clock
  readonly logger: Logger
  readonly onFatal: (error: Error) => void
}

/** Creates the engine with its log, watermark and network. */
export const createConsensus = async (options: ConsensusPartsOptions): Promise<ConsensusEngine> => {
  const { execution, council, evidence, network = nullNetwork, recovery, params, genesisHash, folder } = options
  const { validatorKey, clock, logger, onFatal, metrics, trustMissingLog = false, beganWithSnapshot = false } = options
  const signer = validatorKey && signerOf(validatorKey)
  const { wal, watermark } = await openMemory(folder, signer?.address ?? ZERO_ADDRESS, metrics)
  return createConsensusEngine({
    ports: {
      execution,
      committee: reportedCommittee(council, params, logger),
      network,
      evidence,
      blocks: blockCodec(recovery),
    },
    clock,
    signer,
    recover: recoverAddress,
    wal,
    watermark,
    params: {
      chainId: params.chainId,
      genesisHash,
      blockTimeMs: params.blockTimeMs,
      roundTimeoutMs: params.roundTimeoutMs,
      isDevelopment: params.devHelpers,
    },
    logger,
    onFatal,
    trustMissingLog,
    beganWithSnapshot,
    ...(metrics && { metrics }),
  })
}

const openMemory = async (folder: string | undefined, validator: Hex, metrics: ConsensusMetrics | undefined) => {
  if (folder === undefined) return { wal: memoryWal(), watermark: memoryWatermark() }
  makeFolder(folder)
  const [wal, watermark] = await Promise.all([
    openWal(filesOf('log', metrics), join(folder, 'wal')),
    openWatermark(filesOf('watermark', metrics), watermarkPath(folder, validator)),
  ])
  return { wal, watermark }
}

const filesOf = (file: SyncedFile, metrics: ConsensusMetrics | undefined): FileSystem =>
  metrics === undefined ? nodeFileSystem : timedFileSystem(nodeFileSystem, seconds => metrics.synced(file, seconds))

/** Signers by key: a development chain starts an engine after each revert, and the address costs a curve multiplication. */
const signers = new WeakMap<Uint8Array, ValidatorSigner>()

export const signerOf = (key: Uint8Array): ValidatorSigner =>
  getOrMake(signers, key, () => ({ address: addressFromPrivateKey(key), sign: digest => sign(digest, key) }))
