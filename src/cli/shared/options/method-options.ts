import type { Hex } from '@tandem/base/bytes.ts'
import { Option } from 'commander'
import type { NodeOptions } from '../../../node/options.ts'
import { isMethodName } from '../../../rpc/methods/methods.ts'
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

/** Node options of `--coinbase` and `--disable-methods`. Throws for a name that is no method. */
export const methodsOf = ({
  coinbase,
  disableMethods,
}: MethodFlags): Pick<NodeOptions, 'coinbase' | 'disabledMethods'> => {
  const unknown = disableMethods?.find(name => !isMethodName(name))
  if (unknown !== undefined)
    throw new Error(`--disable-methods: there is no method "${unknown.slice(0, 80)}"; docs/rpc.md lists all.`)
  return { ...(coinbase !== undefined && { coinbase }), ...(disableMethods && { disabledMethods: disableMethods }) }
}
