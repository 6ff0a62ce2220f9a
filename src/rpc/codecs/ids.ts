import type { Hex } from '@tandem/base/bytes.ts'
import { type Codec, codec } from '../router/codec.ts'
import { parseQuantity, QUANTITY_SCHEMA } from './scalars.ts'

const parseId = (value: unknown): Hex => `0x${parseQuantity(value).toString(16)}`

export const filterId: Codec<Hex> = codec('filter', QUANTITY_SCHEMA, parseId)
export const subscriptionId: Codec<Hex> = codec('subscription', QUANTITY_SCHEMA, parseId)
