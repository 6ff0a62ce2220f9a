import { bytesToHex, type Hex, toWord } from '@tandem/base/bytes.ts'
import type { ProofRows } from '../../chain/proof/proof-rows.ts'
import type { BlockStore } from '../../chain/store/block-store.ts'
import type { ChainParams } from '../../config/networks.ts'
import type { ProofPool } from '../../powchain/proof-pool.ts'
import { type ProofHeader, proofHeaderId } from '../../primitives/proof-header.ts'
import type { ProofChainPort, ProofHeaderInfo } from '../../rpc/ports.ts'
import { proofAlgorithmAt } from '../../rules/proof/proof-target.ts'

interface ProofChainPortOptions {
  readonly params: ChainParams
  readonly proofRows: ProofRows
  readonly proofPool: ProofPool
  readonly blocks: Pick<BlockStore, 'header'>
}

/** Reads of the proof chain for clients: final headers, and the preferred branch of pending ones. */
export const proofChainPort = ({ params, proofRows, proofPool, blocks }: ProofChainPortOptions): ProofChainPort => {
  const describe = async (header: ProofHeader, includedIn: number | null): Promise<ProofHeaderInfo> => {
    const { height, parentId, coinbase, target, anchorNumber, anchorHash } = header
    // The time of a header is that of its anchor. A node that began with a snapshot may not have that block yet.
    const anchor = await blocks.header(anchorNumber)
    return {
      number: height,
      id: proofHeaderId(header),
      parent: parentId,
      miner: coinbase,
      algorithm: proofAlgorithmAt(params, height),
      target: toWord(target),
      anchorNumber,
      anchorHash,
      extraNonce: bytesToHex(header.extraNonce),
      nonce: bytesToHex(header.nonce),
      mixHash: bytesToHex(header.mixHash),
      timestamp: anchor?.header.timestamp ?? 0,
      includedIn,
    }
  }
  const find = (ref: number | Hex) => {
    if (typeof ref === 'number' && !Number.isSafeInteger(ref)) return undefined
    const stored = typeof ref === 'number' ? proofRows.byHeight(ref) : proofRows.byId(ref)
    if (stored !== undefined) return stored
    const pending =
      typeof ref === 'number' ? proofPool.branch().find(({ header }) => header.height === ref) : proofPool.get(ref)
    return pending && { header: pending.header, includedIn: null }
  }
  return {
    height: () => proofPool.best()?.header.height ?? proofPool.head.proofState.tipHeight,
    async header(ref) {
      const found = find(ref)
      return found && describe(found.header, found.includedIn)
    },
  }
}
