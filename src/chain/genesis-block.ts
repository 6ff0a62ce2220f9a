import { bigintToBytes, type Hex, hexToBytes, ZERO_ADDRESS, ZERO_HASH } from '@tandem/base/bytes.ts'
import type { Genesis } from '../config/genesis/genesis.ts'
import { type BaseFeeParams, INITIAL_BASE_FEE } from '../config/networks.ts'
import { keccak256Hex } from '../crypto/hash.ts'
import { type Block, blockFromParts } from '../primitives/block.ts'
import { EXTRA_DATA_VERSION, encodeExtraData } from '../primitives/consensus/extra-data.ts'
import { EMPTY_LIST_HASH, type Header } from '../primitives/header.ts'
import { EMPTY_BLOOM } from '../primitives/receipt/bloom.ts'
import { encodeRlp } from '../primitives/rlp/rlp.ts'
import { EMPTY_ROOT } from '../state/account.ts'

/** Block 0, given the state root of `genesis.alloc`. */
export const genesisBlock = (genesis: Genesis, stateRoot: Hex): Block =>
  blockFromParts(genesisHeader(genesis, stateRoot), {
    transactions: [],
    proofHeaders: [],
    evidence: [],
  })

const genesisHeader = (genesis: Genesis, stateRoot: Hex): Header => ({
  parentHash: ZERO_HASH,
  miner: ZERO_ADDRESS,
  difficulty: 1n,
  number: 0,
  gasLimit: genesis.params.blockGasLimit,
  gasUsed: 0n,
  timestamp: genesis.timestamp,
  mixHash: ZERO_HASH,
  nonce: '0x0000000000000000',
  baseFeePerGas: firstBaseFee(genesis.params.baseFee),
  sha3Uncles: EMPTY_LIST_HASH,
  stateRoot,
  transactionsRoot: EMPTY_ROOT,
  receiptsRoot: EMPTY_ROOT,
  logsBloom: EMPTY_BLOOM,
  extraData: extraDataOf(genesis),
})

/** The floor, rounded up to even as in KIP-71. */
const firstBaseFee = ({ rule, lowerBoundWei }: BaseFeeParams): bigint =>
  rule === 'eip1559' ? INITIAL_BASE_FEE : lowerBoundWei + (lowerBoundWei & 1n)

const extraDataOf = (genesis: Genesis): Uint8Array =>
  encodeExtraData({
    version: EXTRA_DATA_VERSION,
    vanity: genesis.vanity,
    proposer: ZERO_ADDRESS,
    parentCertificate: null,
    proofTip: ZERO_HASH,
    proofHeadersHash: EMPTY_LIST_HASH,
    evidenceRoot: rulesHash(genesis),
  })

/**
 * Hash of rules outside the state that every node of a chain must share: chain id, foundation, first council, the parameters
 * the file sets. Genesis has no evidence, so the hash takes that field: nodes with other rules have another genesis hash, and
 * learn it at the first handshake instead of at the first difference in execution.
 */
const rulesHash = (genesis: Genesis): Hex =>
  keccak256Hex(
    encodeRlp([
      bigintToBytes(BigInt(genesis.params.chainId)),
      hexToBytes(genesis.foundation),
      genesis.council.map(member => [
        Buffer.from(member.name),
        hexToBytes(member.validator),
        hexToBytes(member.reward),
        bigintToBytes(member.stakeWei),
      ]),
      Buffer.from(genesis.pinnedParams),
    ]),
  )
