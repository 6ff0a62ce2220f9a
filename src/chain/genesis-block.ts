import { bigintToBytes, type Hex, hexToBytes, ZERO_ADDRESS, ZERO_HASH } from '@tandem/base/bytes.ts'
import type { Genesis, TimeFork } from '../config/genesis/genesis.ts'
import { keccak256Hex } from '../crypto/hash.ts'
import { type Block, blockFromParts } from '../primitives/block.ts'
import { EXTRA_DATA_VERSION, encodeExtraData } from '../primitives/consensus/extra-data.ts'
import type { EthereumBody } from '../primitives/ethereum-body.ts'
import { EMPTY_LIST_HASH, type Header } from '../primitives/header.ts'
import { EMPTY_BLOOM } from '../primitives/receipt/bloom.ts'
import { encodeRlp } from '../primitives/rlp/rlp.ts'

const EMPTY_TRIE_ROOT: Hex = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
/** SHA-256 of the empty string: the hash of no requests (EIP-7685). */
const EMPTY_REQUESTS_HASH: Hex = '0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

/** Block 0, given the state root of `genesis.alloc`. */
export const genesisBlock = (genesis: Genesis, stateRoot: Hex): Block =>
  blockFromParts(genesisHeader(genesis, stateRoot), {
    transactions: [],
    proofHeaders: [],
    evidence: [],
    ...(genesis.style.format === 'geth' && { ethereum: ethereumBody(genesis) }),
  })

const genesisHeader = (genesis: Genesis, stateRoot: Hex): Header => ({
  ...genesis.header,
  sha3Uncles: EMPTY_LIST_HASH,
  stateRoot,
  transactionsRoot: EMPTY_TRIE_ROOT,
  receiptsRoot: EMPTY_TRIE_ROOT,
  logsBloom: EMPTY_BLOOM,
  extraData: extraDataOf(genesis),
  ...laterMembers(genesis),
})

const extraDataOf = (genesis: Genesis): Uint8Array => {
  if (genesis.style.format === 'geth') return genesis.style.extraData
  return encodeExtraData({
    version: EXTRA_DATA_VERSION,
    vanity: genesis.style.vanity,
    proposer: ZERO_ADDRESS,
    parentCertificate: null,
    proofTip: ZERO_HASH,
    proofHeadersHash: EMPTY_LIST_HASH,
    evidenceRoot: rulesHash(genesis, genesis.style.pinnedParams),
  })
}

/**
 * Hash of rules outside the state that every node of a chain must share: chain id, foundation, first council, the parameters
 * the file sets. Genesis has no evidence, so the hash takes that field: nodes with other rules have another genesis hash, and
 * learn it at the first handshake instead of at the first difference in execution.
 */
const rulesHash = (genesis: Genesis, pinnedParams: string): Hex =>
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
      Buffer.from(pinnedParams),
    ]),
  )

/** Header members of forks that a geth-style genesis has active at its own time. */
const laterMembers = ({ style, header }: Genesis): Partial<Header> => {
  if (style.format === 'tandem') return {}
  const active = (name: string): boolean => startsWith(style.timeForks, header.timestamp, name)
  return {
    ...(active('shanghai') && { withdrawalsRoot: EMPTY_TRIE_ROOT }),
    ...(active('cancun') && { parentBeaconBlockRoot: ZERO_HASH }),
    ...(active('prague') && { requestsHash: EMPTY_REQUESTS_HASH }),
  }
}

const ethereumBody = ({ style, header }: Genesis): EthereumBody => ({
  uncles: [],
  withdrawals: style.format === 'geth' && startsWith(style.timeForks, header.timestamp, 'shanghai') ? [] : undefined,
  totalDifficulty: header.difficulty,
})

/** True when a fork is active from block 0 on. */
const startsWith = (forks: readonly TimeFork[], timestamp: number, name: string): boolean =>
  forks.some(fork => fork.name === name && fork.time <= timestamp)
