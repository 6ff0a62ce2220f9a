import type { Hex } from '@tandem/base/bytes.ts'
import { Option } from 'commander'
import { addressOption, listOption } from './options.ts'

export interface MethodFlags {
  readonly coinbase?: Hex
  readonly disableMethods?: readonly string[]
}

/** Options of what the methods answer. */
export const methodOptions = (): readonly Option[] => [
  new Option(
    '--coinbase <address>',
    "address of the operator, for eth_coinbase (default: the validator's, else one of the node's own key)",
  ).argParser(addressOption),
  new Option(
    '--disable-methods <names>',
    'comma-separated methods that the public port refuses with -32075 "Method disabled", under their native_ names too',
  ).argParser(listOption),
]
