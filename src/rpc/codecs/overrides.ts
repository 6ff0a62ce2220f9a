import type { Hex } from '@tandem/base/bytes.ts'
import { defined } from '@tandem/base/defined.ts'
import type { AccountOverride, BlockOverrides, StateOverrides } from '../../evm/calls/message/call-args.ts'
import { type Codec, codec } from '../router/method-description.ts'
import { asObject, member, within } from './object.ts'
import {
  ADDRESS_SCHEMA,
  DATA_SCHEMA,
  HASH_SCHEMA,
  invalidValue,
  parseAddress,
  parseBytes,
  parseHash,
  parseQuantity,
  parseSlot,
  parseUint64,
  slot,
} from './scalars.ts'
import { addresses, hashes, quantities } from './schemas.ts'

const LIMIT = 10_000

const entriesOf = (value: unknown, type: string): [string, unknown][] => {
  const entries = Object.entries(asObject(value, type))
  return entries.length > LIMIT ? invalidValue(`more than ${LIMIT} overrides`) : entries
}

const parseSlots = (value: unknown): Readonly<Record<Hex, Hex>> =>
  Object.fromEntries(
    entriesOf(value, 'map[common.Hash]common.Hash').map(([key, word]) => [
      parseSlot(key),
      within(key, () => parseHash(word)),
    ]),
  )

const parseAccount = (value: unknown): AccountOverride => {
  const object = asObject(value, 'ethapi.OverrideAccount')
  return defined({
    balance: member(object, 'balance', inner => parseQuantity(inner)),
    nonce: member(object, 'nonce', parseUint64),
    code: member(object, 'code', parseBytes),
    state: member(object, 'state', parseSlots),
    stateDiff: member(object, 'stateDiff', parseSlots),
    movePrecompileTo: member(object, 'movePrecompileToAddress', parseAddress),
  })
}

const SLOTS_SCHEMA = { type: 'object', propertyNames: slot.schema, additionalProperties: HASH_SCHEMA }

export const stateOverrides: Codec<StateOverrides> = codec(
  'overrides',
  {
    type: 'object',
    propertyNames: ADDRESS_SCHEMA,
    additionalProperties: {
      type: 'object',
      properties: {
        ...quantities('balance', 'nonce'),
        code: DATA_SCHEMA,
        state: SLOTS_SCHEMA,
        stateDiff: SLOTS_SCHEMA,
        movePrecompileToAddress: ADDRESS_SCHEMA,
      },
    },
  },
  value =>
    Object.fromEntries(
      entriesOf(value, 'ethapi.StateOverride').map(([who, account]) => [
        parseAddress(who),
        within(who, () => parseAccount(account)),
      ]),
    ),
)

export const blockOverrides: Codec<BlockOverrides> = codec(
  'blockOverrides',
  {
    type: 'object',
    properties: {
      ...quantities('number', 'time', 'gasLimit', 'baseFeePerGas', 'baseFee', 'blobBaseFee'),
      ...addresses('feeRecipient', 'coinbase'),
      ...hashes('prevRandao', 'random'),
    },
  },
  value => {
    const object = asObject(value, 'ethapi.BlockOverrides')
    const wei = (name: string) => member(object, name, inner => parseQuantity(inner))
    return defined({
      number: member(object, 'number', parseUint64),
      timestamp: member(object, 'time', parseUint64),
      gasLimit: member(object, 'gasLimit', inner => parseQuantity(inner, 64)),
      miner: member(object, 'feeRecipient', parseAddress) ?? member(object, 'coinbase', parseAddress),
      prevRandao: member(object, 'prevRandao', parseHash) ?? member(object, 'random', parseHash),
      baseFeePerGas: wei('baseFeePerGas') ?? wei('baseFee'),
      blobBaseFeePerGas: wei('blobBaseFee'),
    })
  },
)
