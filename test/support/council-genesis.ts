import type { Hex } from '@tandem/base/bytes.ts'
import { type Genesis, parseGenesis } from '../../src/config/genesis/genesis.ts'
import { addressFromPrivateKey } from '../../src/crypto/signature.ts'
import { ACCOUNTS, keyOf, START_WEI } from './chain.ts'

/** Keys of validators, which own themselves and are paid at `rewardOf`. */
export const validatorKey = (index: number): Uint8Array => keyOf(200 + index)
export const validatorOf = (index: number): Hex => addressFromPrivateKey(validatorKey(index))
export const rewardOf = (index: number): Hex => `0x${'7e'.repeat(19)}${index.toString(16).padStart(2, '0')}`
export const FOUNDATION: Hex = `0x${'f0'.repeat(20)}`

/** A chain without development helpers whose first `validators` are its council; keys of more are funded. */
export const councilGenesis = (
  validators: number,
  params: Record<string, unknown> = {},
  { funded = 12, names = (index: number) => `Validator ${index}` } = {},
): Genesis =>
  parseGenesis(
    JSON.stringify({
      format: 'tandem/1',
      network: 'devnet',
      timestamp: 1_735_689_600,
      council: Array.from({ length: validators }, (_, index) => ({
        name: names(index),
        validator: validatorOf(index),
        reward: rewardOf(index),
        stake: (35n * 10n ** 18n * BigInt(index + 1)).toString(),
      })),
      foundation: FOUNDATION,
      alloc: Object.fromEntries(
        [...ACCOUNTS, ...Array.from({ length: funded }, (_, index) => validatorOf(index))].map(address => [
          address,
          { balance: START_WEI.toString() },
        ]),
      ),
      params: { blockTimeMs: 1000, devHelpers: false, ...params },
    }),
  )
