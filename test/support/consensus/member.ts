import type { Clock } from '@tandem/base/clock.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import type { Committee } from '../../../src/consensus/committee.ts'
import { createConsensusEngine } from '../../../src/consensus/engine/engine.ts'
import type { ConsensusEngine, ConsensusEngineOptions } from '../../../src/consensus/engine/types.ts'
import { type NetworkPort, nullNetwork } from '../../../src/consensus/ports.ts'
import { openWal } from '../../../src/consensus/wal/wal.ts'
import { openWatermark } from '../../../src/consensus/wal/watermark.ts'
import { keccak256 } from '../../../src/crypto/hash.ts'
import { addressFromPrivateKey, recoverAddress, sign } from '../../../src/crypto/signature.ts'
import type { ValidatorSigner } from '../../../src/primitives/consensus/vote.ts'
import { blockCodec, GENESIS_HASH, type Ledger } from './ledger.ts'
import type { MemoryFiles } from './memory-files.ts'

export const DOMAIN = { chainId: 1_998_999, genesisHash: GENESIS_HASH }

export const keyOf = (index: number): Uint8Array => keccak256(new TextEncoder().encode(`validator ${index}`))
export const signerOf = (index: number): ValidatorSigner => {
  const key = keyOf(index)
  return { address: addressFromPrivateKey(key), sign: digest => sign(digest, key) }
}

export const committeeOf = (size: number): Committee => ({
  members: Array.from({ length: size }, (_, index) => signerOf(index).address),
})

interface MemberParts {
  readonly index: number
  readonly size: number
  readonly clock: Clock
  readonly files: MemoryFiles
  readonly ledger: Ledger
  readonly network?: NetworkPort
  readonly blockTimeMs?: number
  readonly isDevelopment?: boolean
  readonly overrides?: Partial<ConsensusEngineOptions>
}

export interface Member {
  readonly engine: ConsensusEngine
  readonly errors: Error[]
}

/** A real engine over memory: real keys, real log and watermark formats. */
export const createMember = async (parts: MemberParts): Promise<Member> => {
  const { index, size, clock, files, ledger, network = nullNetwork, overrides } = parts
  const { blockTimeMs = 1000, isDevelopment = false } = parts
  const errors: Error[] = []
  const committee = committeeOf(size)
  const engine = createConsensusEngine({
    ports: { execution: ledger, committee: { committee: () => committee }, network, blocks: blockCodec },
    clock,
    signer: signerOf(index),
    recover: recoverAddress,
    wal: await openWal(files, 'wal'),
    watermark: await openWatermark(files, 'watermark'),
    params: { ...DOMAIN, blockTimeMs, roundTimeoutMs: 1000, isDevelopment },
    logger: silentLogger,
    onFatal: error => errors.push(error),
    ...overrides,
  })
  return { engine, errors }
}
