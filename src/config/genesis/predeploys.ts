import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { readOwnFile } from '@tandem/base/own-files.ts'
import type { GenesisAccount } from './types.ts'

/** Well-known contracts that a genesis file names (docs/genesis.md#predeploys). */
export const PREDEPLOYS = [
  'create2Deployer',
  'multicall3',
  'permit2',
  'entryPoint06',
  'entryPoint07',
  'entryPoint08',
] as const
export type Predeploy = (typeof PREDEPLOYS)[number]

type StoredAccounts = Record<Hex, { readonly nonce?: number; readonly code: Hex; readonly storage?: Record<Hex, Hex> }>

let kept: ReadonlyMap<string, readonly (readonly [Hex, GenesisAccount])[]> | undefined

/** Returns the accounts of the named contracts as their deployment left them on Ethereum. */
export const predeployedAccounts = (names: readonly Predeploy[]): ReadonlyMap<Hex, GenesisAccount> => {
  // Only where a chain has them: the file is longer than the rest of a start's input.
  kept ??= readAccounts()
  return new Map(names.flatMap(name => kept?.get(name) ?? []))
}

const readAccounts = (): NonNullable<typeof kept> => {
  const file = new URL('../../../contracts/predeploys.json', import.meta.url)
  const stored = JSON.parse(readOwnFile(file).toString('utf8')) as Record<Predeploy, StoredAccounts>
  return new Map(
    Object.entries(stored).map(([name, accounts]) => [
      name,
      Object.entries(accounts).map(([address, { nonce = 1, code, storage = {} }]): [Hex, GenesisAccount] => [
        address as Hex,
        { balance: 0n, nonce, code: hexToBytes(code), storage: new Map(Object.entries(storage) as [Hex, Hex][]) },
      ]),
    ]),
  )
}
