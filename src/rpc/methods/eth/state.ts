import { bytesToHex, type Hex, toQuantity, ZERO_HASH } from '@tandem/base/bytes.ts'
import { RPC_LIMITS } from '../../../config/limits/clients.ts'
import { block } from '../../codecs/block.ts'
import { asArray, asObject, within } from '../../codecs/object.ts'
import {
  address,
  DATA_SCHEMA,
  HASH_SCHEMA,
  invalidValue,
  parseAddress,
  parseSlot,
  QUANTITY_SCHEMA,
  slot,
  storagePosition,
} from '../../codecs/scalars.ts'
import { listOf } from '../../codecs/schemas.ts'
import { invalidParams } from '../../errors.ts'
import { andThen, readState } from '../../router/block-reads.ts'
import { type MethodTable, method } from '../../router/method.ts'
import { type Codec, codec } from '../../router/method-description.ts'
import { proofSchema, prove, slots } from './proofs.ts'

/** Storage positions by account. */
const storageRequests: Codec<readonly (readonly [Hex, readonly Hex[]])[]> = codec(
  'requests',
  { type: 'object', minProperties: 1, propertyNames: address.schema, additionalProperties: listOf(slot.schema) },
  value => {
    const entries = Object.entries(asObject(value, 'map[common.Address][]common.Hash'))
    if (entries.length === 0) throw invalidParams('empty request')
    let left = RPC_LIMITS.proofKeys
    return entries.map(([account, positions]) => {
      const list = asArray(positions, '[]common.Hash')
      left -= Math.max(1, list.length)
      if (left < 0) return invalidValue(`too many positions, at most ${RPC_LIMITS.proofKeys}`)
      return [
        parseAddress(account),
        list.map((key, at) => within(`position ${at} of ${account}`, () => parseSlot(key))),
      ]
    })
  },
)

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
  eth_getStorageValues: method({
    summary: 'Words at storage positions of several accounts',
    params: [storageRequests, block],
    result: { type: 'object', additionalProperties: listOf(HASH_SCHEMA) },
    notes: `At most ${RPC_LIMITS.proofKeys} positions.`,
    weight: 10,
    handler: ({ view }, requests, at) =>
      readState(view, at, async state => {
        const values: [Hex, readonly Hex[]][] = []
        for (const [who, positions] of requests) {
          const words: Hex[] = []
          for (const position of positions) words.push((await state.storage(who, position)) ?? ZERO_HASH)
          values.push([who, words])
        }
        return Object.fromEntries(values)
      }),
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
