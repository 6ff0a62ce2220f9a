import { bytesToHex, type Hex, toQuantity } from '@tandem/base/bytes.ts'
import type { ChainView } from '../../../chain/store/types.ts'
import { RPC_LIMITS } from '../../../config/limits/clients.ts'
import { asArray, within } from '../../codecs/object.ts'
import { ADDRESS_SCHEMA, DATA_SCHEMA, invalidValue, parseSlot, QUANTITY_SCHEMA, slot } from '../../codecs/scalars.ts'
import { hashes, listOf, objectOf, quantities } from '../../codecs/schemas.ts'
import { serverError } from '../../errors.ts'
import { type BlockRef, blockNumberOf } from '../../router/block-reads.ts'
import { type Codec, codec } from '../../router/method-description.ts'

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

export const slots: Codec<readonly ProofKey[]> = codec('keys', listOf(slot.schema), value => {
  const keys = asArray(value, '[]string')
  return keys.length > RPC_LIMITS.proofKeys
    ? invalidValue(`too many keys, at most ${RPC_LIMITS.proofKeys}`)
    : keys.map(parseKey)
})

export const proofSchema = objectOf('AccountProof', {
  address: ADDRESS_SCHEMA,
  accountProof: listOf(DATA_SCHEMA),
  ...quantities('balance', 'nonce'),
  ...hashes('codeHash', 'storageHash'),
  storageProof: listOf(
    objectOf('StorageProof', { key: { type: 'string' }, value: QUANTITY_SCHEMA, proof: listOf(DATA_SCHEMA) }),
  ),
})

export const prove = async (view: ChainView, who: Hex, keys: readonly ProofKey[], at: BlockRef): Promise<object> => {
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
