import { bigintToBytes, bytesEqual, type Hex, hexToBytes, ZERO_ADDRESS, ZERO_HASH } from '@tandem/base/bytes.ts'
import type { Genesis, GenesisAccount } from '../config/genesis/genesis.ts'
import { type BaseFeeParams, INITIAL_BASE_FEE, type NetworkName } from '../config/networks.ts'
import { keccak256, keccak256Hex } from '../crypto/hash.ts'
import { type Block, blockFromParts } from '../primitives/block.ts'
import { EXTRA_DATA_VERSION, encodeExtraData } from '../primitives/consensus/extra-data.ts'
import { EMPTY_LIST_HASH, type Header } from '../primitives/header.ts'
import { EMPTY_BLOOM } from '../primitives/receipt/bloom.ts'
import { encodeRlp } from '../primitives/rlp/rlp.ts'
import { genesisAlloc } from '../rules/money/genesis-alloc.ts'
import { EMPTY_ROOT } from '../state/account.ts'
import type { WorldState } from '../state/world/world-state.ts'
import { BUCKETS } from '../storage/buckets.ts'
import { metaKey, putIdentity } from '../storage/schema.ts'
import type { Store } from '../storage/store.ts'
import { Council } from './council/council.ts'
import { putBlock } from './store/put-block.ts'
import type { ChainBlock } from './store/types.ts'

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

interface NewChain {
  readonly store: Store
  readonly world: WorldState
  readonly network: NetworkName
  readonly alloc: ReadonlyMap<Hex, GenesisAccount>
  /** Empty without consensus. */
  readonly council: Genesis['council']
  readonly blockOf: (stateRoot: Hex) => ChainBlock
}

/** Writes block 0 and its state into an empty store, in one batch. */
export const writeGenesis = async (newChain: NewChain): Promise<ChainBlock> => {
  const { store, world, network, alloc, council, blockOf } = newChain
  const journal = world.journal()
  for (const [address, account] of alloc) {
    journal.setBalance(address, account.balance)
    if (account.nonce > 0) journal.setNonce(address, account.nonce)
    if (account.code.byteLength > 0) journal.setCode(address, account.code)
    for (const [slot, word] of account.storage) journal.setStorage(address, slot, word)
  }
  journal.endTransaction()
  const update = await world.computeUpdate(journal.changes(), EMPTY_ROOT)
  const block = blockOf(update.root)
  const batch = store.batch()
  putIdentity(batch, { network, genesis: block.hash })
  batch.put(BUCKETS.meta, ALLOC_KEY, allocDigest(alloc))
  batch.put(BUCKETS.supply, new Uint8Array(8), new Uint8Array(0))
  if (council.length > 0) Council.writeFirst(batch, council, block.hash)
  putBlock(batch, { block, receipts: [], certificate: null })
  await world.write(batch, 0, update)
  await batch.write()
  await world.committed(0, update)
  return block
}

/** Returns true when the store's chain began with this allocation. */
export const isAllocOf = async (store: Store, genesis: Genesis): Promise<boolean> => {
  const digest = await store.get(BUCKETS.meta, ALLOC_KEY)
  return digest !== undefined && bytesEqual(digest, allocDigest(genesisAlloc(genesis)))
}

const ALLOC_KEY = metaKey('genesis-alloc')

/** Digest that identifies an allocation without recomputing its state root at every start. */
const allocDigest = (alloc: ReadonlyMap<Hex, GenesisAccount>): Uint8Array =>
  keccak256(
    encodeRlp(
      [...alloc]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([address, { balance, nonce, code, storage }]) => [
          hexToBytes(address),
          bigintToBytes(balance),
          bigintToBytes(BigInt(nonce)),
          code,
          [...storage].sort(([a], [b]) => (a < b ? -1 : 1)).map(([slot, word]) => [hexToBytes(slot), hexToBytes(word)]),
        ]),
    ),
  )
