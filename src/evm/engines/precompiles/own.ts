import type { Common } from '@ethereumjs/common'
import type { CustomPrecompile } from '@ethereumjs/evm'
import { Address } from '@ethereumjs/util'
import { blake2f } from './blake2.ts'
import { addPoints, multiplyPoint, pairing } from './bn254.ts'
import { modexp } from './modexp.ts'
import type { Precompile } from './precompile.ts'

/*
 * Precompiles that take the place of EthereumJS' own in our engine, where those are slow for their price or cannot be interrupted.
 * Output, gas and failures are theirs: test/property/precompiles.test.ts. The oracle keeps the originals.
 */

const addressOf = (number: number): Address => {
  const bytes = new Uint8Array(20)
  new DataView(bytes.buffer).setUint32(16, number)
  return new Address(bytes)
}

const OWN: readonly (readonly [number, Precompile, (common: Common) => boolean])[] = [
  [0x05, modexp, common => common.gteHardfork('byzantium')],
  [0x06, addPoints, common => common.gteHardfork('byzantium')],
  [0x07, multiplyPoint, common => common.gteHardfork('byzantium')],
  [0x08, pairing, common => common.gteHardfork('byzantium')],
  [0x09, blake2f, common => common.gteHardfork('istanbul')],
]

/** For `new EVM({ customPrecompiles })`. */
export const ownPrecompiles = (common: Common): CustomPrecompile[] =>
  OWN.filter(([, , isActive]) => isActive(common)).map(([number, run]) => ({
    address: addressOf(number),
    function: run,
  }))
