import type { NodeOptions } from '../../../node/options.ts'
import { isMethodName } from '../../../rpc/methods/methods.ts'
import type { MethodFlags } from './method-options.ts'

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
