import type { Hex } from '@tandem/base/bytes.ts'
import { FAUCET_LIMITS } from '../config/limits/faucet.ts'
import type { SenderOptions } from './sender.ts'

interface BalanceOptions extends Pick<SenderOptions, 'node' | 'floorWei' | 'clock' | 'logger'> {
  readonly address: Hex
  /** Grants of the last 24 hours. */
  readonly granted: () => number
}

const { grantWei, transferGas, balanceMs, alarm } = FAUCET_LIMITS

/** Balance of the faucet's account, read at most every two seconds, with the alarm that it runs low. */
export const createFaucetBalance = ({ node, address, floorWei, clock, logger, granted }: BalanceOptions) => {
  let balanceWei = 0n
  let feeWei = floorWei * transferGas
  let atMs = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined
  let wasLow = false

  const read = async (): Promise<void> => {
    const [wei, gasPrice] = await Promise.all([node.balance(address), node.gasPrice()])
    balanceWei = wei
    feeWei = (gasPrice > floorWei ? gasPrice : floorWei) * transferGas
    atMs = clock.nowMs()
    const expected = alarm.days * BigInt(granted())
    const isLow = !pays(Number(expected > alarm.grants ? expected : alarm.grants))
    if (isLow && !wasLow)
      logger.warn({ address, tokens: String(wei / 10n ** 18n) }, 'the faucet runs low: send tokens to its address')
    wasLow = isLow
  }

  /** Returns true when the balance pays for this many grants with their fees. */
  const pays = (grants: number): boolean => balanceWei >= BigInt(grants) * (grantWei + feeWei)

  return {
    get wei(): bigint {
      return balanceWei
    },

    /** Less than two days of the outflow are left. */
    get isLow(): boolean {
      return wasLow
    },

    /** Throws the node's error. */
    async refresh(): Promise<void> {
      if (Math.abs(clock.nowMs() - atMs) < balanceMs) return
      reading ??= read().finally(() => {
        reading = undefined
      })
      await reading
    },

    pays,
  }
}

export type FaucetBalance = ReturnType<typeof createFaucetBalance>
