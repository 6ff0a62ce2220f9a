import { type Hex, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import type { AddressLabel } from '../store/index-store.ts'

/**
 * Labels of the members of the first council, by their names, and of the foundation. An address has one label: a validator that is the
 * foundation too keeps its own. The zero address is no foundation.
 */
export const networkLabels = (
  council: readonly { readonly validator: Hex; readonly name: string }[],
  foundation: Hex,
): readonly AddressLabel[] => [
  ...council.map(({ validator, name }) => ({ address: validator, name: `Validator ${name}`.trim() })),
  ...(foundation === ZERO_ADDRESS || council.some(({ validator }) => validator === foundation)
    ? []
    : [{ address: foundation, name: 'Foundation' }]),
]
