import { bytesToHex, toQuantity, ZERO_HASH } from '@tandem/base/bytes.ts'
import { RPC_LIMITS } from '../../../config/limits/clients.ts'
import { block } from '../../codecs/block.ts'
import { address, DATA_SCHEMA, HASH_SCHEMA, QUANTITY_SCHEMA, storagePosition } from '../../codecs/scalars.ts'
import { type MethodTable, method } from '../../router/method.ts'
import { andThen, readState } from '../block-reads.ts'
import { proofSchema, prove, slots } from './proofs.ts'

/** Account reads. When the state is pruned: -32000 `missing trie node <hash> (path )`. */
export const ethState = {
  eth_getBalance: method({
    summary: 'Balance of an account, wei',
    params: [address, block],
    result: QUANTITY_SCHEMA,
    handler: ({ view }, who, at) =>
      readState(view, at, state => andThen(state.account(who), account => toQuantity(account?.balance ?? 0n))),
  }),
  eth_getTransactionCount: method({
    summary: 'Transactions sent from an account: its next nonce',
    params: [address, block],
    result: QUANTITY_SCHEMA,
    notes: 'With `pending`, the executable transactions of the pool count too.',
    handler: ({ view, pool }, who, at) =>
      at === 'pending'
        ? toQuantity(pool.nextNonce(who))
        : readState(view, at, state => andThen(state.account(who), account => toQuantity(account?.nonce ?? 0))),
  }),
  eth_getCode: method({
    summary: 'Code of a contract; 0x for any other account',
    params: [address, block],
    result: DATA_SCHEMA,
    handler: ({ view }, who, at) => readState(view, at, state => andThen(state.code(who), bytesToHex)),
  }),
  eth_getStorageAt: method({
    summary: 'Word of 32 bytes at a storage position',
    params: [address, storagePosition, block],
    result: HASH_SCHEMA,
    notes:
      'The position is a QUANTITY, or 32 bytes: the hash that is the position of an entry in a mapping. Other positions with leading zeros, such as `0x00`, are refused like any QUANTITY; geth takes them.',
    handler: ({ view }, who, position, at) =>
      readState(view, at, state => andThen(state.storage(who, position), word => word ?? ZERO_HASH)),
  }),
  eth_getProof: method({
    summary: 'An account and slots of its storage with their Merkle proofs (EIP-1186)',
    params: [address, slots, block],
    result: proofSchema,
    weight: 20,
    slot: { limits: RPC_LIMITS.proofs, what: 'proofs' },
    handler: ({ view }, who, keys, at) => prove(view, who, keys, at),
  }),
} satisfies MethodTable
