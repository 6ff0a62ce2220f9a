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
export class FaucetBalance {
  readonly #options: BalanceOptions
  #wei = 0n
  #feeWei: bigint
  #atMs = Number.NEGATIVE_INFINITY
  #reading: Promise<void> | undefined
  #isLow = false

  constructor(options: BalanceOptions) {
    this.#options = options
    this.#feeWei = options.floorWei * transferGas
  }

  get wei(): bigint {
    return this.#wei
  }

  /** Less than two days of the outflow are left. */
  get isLow(): boolean {
    return this.#isLow
  }

  /** Throws the node's error. */
  async refresh(): Promise<void> {
    if (Math.abs(this.#options.clock.nowMs() - this.#atMs) < balanceMs) return
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined
    })
    await this.#reading
  }

  /** Returns true when the balance pays for this many grants with their fees. */
  pays(grants: number): boolean {
    return this.#wei >= BigInt(grants) * (grantWei + this.#feeWei)
  }

  async #read(): Promise<void> {
    const { node, address, floorWei, clock, logger, granted } = this.#options
    const [wei, gasPrice] = await Promise.all([node.balance(address), node.gasPrice()])
    this.#wei = wei
    this.#feeWei = (gasPrice > floorWei ? gasPrice : floorWei) * transferGas
    this.#atMs = clock.nowMs()
    const expected = alarm.days * BigInt(granted())
    const isLow = !this.pays(Number(expected > alarm.grants ? expected : alarm.grants))
    if (isLow && !this.#isLow)
      logger.warn({ address, tokens: String(wei / 10n ** 18n) }, 'the faucet runs low: send tokens to its address')
    this.#isLow = isLow
  }
}
