import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Council } from '../chain/council.ts'
import type { ChainParams } from '../config/networks.ts'
import { createConsensusEngine } from '../consensus/engine.ts'
import type { ConsensusEngine, ConsensusSigner } from '../consensus/engine-types.ts'
import { nodeFileSystem } from '../consensus/files.ts'
import { type BlockCodec, type EvidencePort, type ExecutionPort, nullNetwork } from '../consensus/ports.ts'
import { openWal } from '../consensus/wal.ts'
import { openWatermark } from '../consensus/watermark.ts'
import type { SenderRecovery } from '../crypto/recovery.ts'
import { addressOf, recoverAddress, sign } from '../crypto/signature.ts'
import { decodeBlock, encodeBlock } from '../primitives/block.ts'
import { withSender } from '../primitives/transaction.ts'
import { type Hex, ZERO_ADDRESS } from '../util/bytes.ts'
import type { Clock } from '../util/clock.ts'
import type { Logger } from '../util/logger.ts'
import { watermarkPath } from './consensus-folder.ts'

export interface ConsensusPartsOptions {
  readonly execution: ExecutionPort
  readonly council: Council
  readonly evidence: EvidencePort
  readonly recovery: Pick<SenderRecovery, 'recoverMany'>
  readonly params: ChainParams
  readonly genesisHash: Hex
  /** Where the log and the watermark are. */
  readonly folder: string
  readonly validatorKey: Uint8Array | null
  readonly trustMissingLog?: boolean | undefined
  readonly clock: Clock
  readonly logger: Logger
  readonly onFatal: (error: Error) => void
}

/** The engine with its log, its watermark and, as long as there is no network, no neighbours. */
export const createConsensus = async (options: ConsensusPartsOptions): Promise<ConsensusEngine> => {
  const {
    execution,
    council,
    evidence,
    recovery,
    params,
    genesisHash,
    folder,
    validatorKey,
    clock,
    logger,
    onFatal,
    trustMissingLog = false,
  } = options
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const signer = validatorKey && signerOf(validatorKey)
  const [wal, watermark] = await Promise.all([
    openWal(nodeFileSystem, join(folder, 'wal')),
    openWatermark(nodeFileSystem, watermarkPath(folder, signer?.address ?? ZERO_ADDRESS)),
  ])
  return createConsensusEngine({
    ports: {
      execution,
      committee: { committee: number => council.committee(number) },
      network: nullNetwork,
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
    },
    logger,
    onFatal,
    trustMissingLog,
  })
}

const signerOf = (key: Uint8Array): ConsensusSigner => ({ address: addressOf(key), sign: digest => sign(digest, key) })

/** Decoding recovers the senders in their workers. */
export const blockCodec = (recovery: Pick<SenderRecovery, 'recoverMany'>): BlockCodec => ({
  encode: encodeBlock,
  decode: async bytes => {
    const decoded = decodeBlock(bytes)
    const senders = await recovery.recoverMany(decoded.transactions.map(({ raw }) => raw))
    const transactions = decoded.transactions.map((transaction, index) => {
      const sender = senders[index]
      if (sender === undefined || sender instanceof Error) throw sender ?? new Error('a sender for each transaction')
      return withSender(transaction, sender)
    })
    return { ...decoded, transactions }
  },
})
