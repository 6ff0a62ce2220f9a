import type { Common } from '@ethereumjs/common'
import { type CustomPrecompile, getActivePrecompiles, paramsEVM } from '@ethereumjs/evm'
import { Address } from '@ethereumjs/util'
import type { PrecompilePrices } from '../../../config/precompile-prices.ts'
import { blake2f } from './blake2.ts'
import { BLS_PRECOMPILES } from './bls12-381.ts'
import { addPoints, multiplyPoint, pairing } from './bn254.ts'
import { ripemd160Precompile, sha256Precompile } from './hashes.ts'
import { modexp } from './modexp.ts'
import { p256Verify } from './p256.ts'
import { pointEvaluation } from './point-evaluation.ts'
import type { Precompile } from './precompile.ts'
import { repriced } from './repriced.ts'

/*
 * Precompiles that replace EthereumJS' own in this node's engine, where those are slow for their price or cannot be interrupted.
 * Output, gas and failures are equal: test/property/precompile-simple.test.ts and its neighbours. The oracle keeps the originals.
 */

const addressOf = (number: number): Address => {
  const bytes = new Uint8Array(20)
  new DataView(bytes.buffer).setUint32(16, number)
  return new Address(bytes)
}

type Entry = readonly [number: number, run: Precompile, isActive: (common: Common) => boolean]

const OWN: readonly Entry[] = [
  [0x02, sha256Precompile, () => true],
  [0x03, ripemd160Precompile, () => true],
  [0x05, modexp, common => common.gteHardfork('byzantium')],
  [0x06, addPoints, common => common.gteHardfork('byzantium')],
  [0x07, multiplyPoint, common => common.gteHardfork('byzantium')],
  [0x08, pairing, common => common.gteHardfork('byzantium')],
  [0x09, blake2f, common => common.gteHardfork('istanbul')],
  [0x0a, pointEvaluation, common => common.isActivatedEIP(4844)],
  ...BLS_PRECOMPILES.map(([number, run]): Entry => [number, run, common => common.isActivatedEIP(2537)]),
  [0x100, p256Verify, common => common.isActivatedEIP(7951)],
]

/** Returns the active precompiles of our own in the form that EthereumJS' EVM takes. */
export const precompileTable = (common: Common): CustomPrecompile[] =>
  OWN.filter(([, , isActive]) => isActive(common)).map(([number, run]) => ({
    address: addressOf(number),
    function: run,
  }))

const known = new WeakMap<Common, ReadonlyMap<number, Precompile>>()

/** Returns the precompiles of a fork by number, at its own prices: this project's own, and EthereumJS' for the others. */
export const activePrecompiles = (common: Common): ReadonlyMap<number, Precompile> => {
  let found = known.get(common)
  if (found === undefined) {
    // Their prices.
    common.updateParams(paramsEVM)
    const active = getActivePrecompiles(common, precompileTable(common))
    found = new Map([...active].map(([address, run]) => [Number(`0x${address}`), run]))
    known.set(common, found)
  }
  return found
}

/** Returns those that EthereumJS' own EVM needs to have a network's prices; `own`: and this project's functions. */
export const repricedPrecompiles = (
  common: Common,
  prices: PrecompilePrices | null,
  own = false,
): CustomPrecompile[] => {
  common.updateParams(paramsEVM)
  const table = own ? precompileTable(common) : []
  return [...getActivePrecompiles(common, table)].flatMap(([address, run]) => {
    const number = Number(`0x${address}`)
    const price = prices?.[number]
    if (price === undefined) return own ? { address: addressOf(number), function: run } : []
    return price === null
      ? { address: addressOf(number) }
      : { address: addressOf(number), function: repriced(run, price) }
  })
}
