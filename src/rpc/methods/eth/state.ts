import { andThen } from '@tandem/base/async/maybe-promise.ts'
import { bytesToHex, type Hex, toQuantity, ZERO_HASH } from '@tandem/base/bytes.ts'
import type { ChainView } from '../../../chain/store/types.ts'
import { RPC_LIMITS } from '../../../config/limits/clients.ts'
import { block } from '../../codecs/block.ts'
import { asArray, asObject, within } from '../../codecs/object.ts'
import {
  ADDRESS_SCHEMA,
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
import { hashes, listOf, objectOf, quantities } from '../../codecs/schemas.ts'
import { invalidParams, serverError } from '../../errors.ts'
import { type BlockRef, blockNumberOf, readState } from '../../router/block-reads.ts'
import { type MethodTable, method } from '../../router/method.ts'
import { type Codec, codec } from '../../router/method-description.ts'

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

/** Storage key and the form in which the response repeats it. */
interface ProofKey {
  readonly slot: Hex
  readonly shown: string
}

const parseKey = (value: unknown, index: number): ProofKey => {
  const full = within(`storage key ${index}`, () => parseSlot(value))
  // Clients compare the key with the one they sent: a short key is returned as a QUANTITY, a full word as a word.
  const whole = typeof value === 'string' && value.length === 66
  return { slot: full, shown: whole ? full : toQuantity(BigInt(full)) }
}

const slots: Codec<readonly ProofKey[]> = codec('keys', listOf(slot.schema), value => {
  const keys = asArray(value, '[]string')
  return keys.length > RPC_LIMITS.proofKeys
    ? invalidValue(`too many keys, at most ${RPC_LIMITS.proofKeys}`)
    : keys.map(parseKey)
})

const PROOF_SCHEMA = objectOf('AccountProof', {
  address: ADDRESS_SCHEMA,
  accountProof: listOf(DATA_SCHEMA),
  ...quantities('balance', 'nonce'),
  ...hashes('codeHash', 'storageHash'),
  storageProof: listOf(
    objectOf('StorageProof', { key: { type: 'string' }, value: QUANTITY_SCHEMA, proof: listOf(DATA_SCHEMA) }),
  ),
})

const prove = async (view: ChainView, who: Hex, keys: readonly ProofKey[], at: BlockRef): Promise<object> => {
  if (at === 'pending') throw serverError('proofs of the pending state are not supported')
  const proof = await view.prove(
    await blockNumberOf(view, at),
    who,
    keys.map(key => key.slot),
  )
  return {
    address: proof.address,
    accountProof: proof.accountProof.map(bytesToHex),
    balance: toQuantity(proof.balance),
    codeHash: proof.codeHash,
    nonce: toQuantity(proof.nonce),
    storageHash: proof.storageHash,
    storageProof: proof.storageProof.map((item, i) => ({
      key: keys[i]?.shown ?? item.key,
      value: toQuantity(item.value),
      proof: item.proof.map(bytesToHex),
    })),
  }
}

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
    result: PROOF_SCHEMA,
    weight: 20,
    slot: { limits: RPC_LIMITS.proofs, what: 'proofs' },
    handler: ({ view }, who, keys, at) => prove(view, who, keys, at),
  }),
} satisfies MethodTable
