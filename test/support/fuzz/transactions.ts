import type { Hex } from '@tandem/base/bytes.ts'
import type { Random } from '@tandem/base/random.ts'
import { type Account, type Fields, signerOf } from '../load.ts'

const GWEI = 10n ** 9n

/** Signed transactions of one account: those it could send now, and those that are wrong in one way. */
export class TransactionMaker {
  readonly #random: Random
  readonly #targets: readonly Hex[]
  readonly #signed: ReturnType<typeof signerOf>
  readonly #elsewhere: ReturnType<typeof signerOf>
  #nonce: number
  #last: Hex | undefined

  constructor(account: Account, chainId: number, nonce: number, targets: readonly Hex[], random: Random) {
    this.#signed = signerOf(account.privateKey, chainId)
    this.#elsewhere = signerOf(account.privateKey, chainId + 1)
    this.#nonce = nonce
    this.#targets = targets
    this.#random = random
  }

  next(): Hex {
    const random = this.#random
    const to = random.pick(this.#targets)
    switch (random.below(16)) {
      case 0:
        return this.#signed({ to, nonce: Math.max(0, this.#nonce - 1 - random.below(5)) }).raw
      case 1:
        return this.#signed({ to, nonce: this.#nonce + 1 + random.below(90) }).raw
      case 2:
        return this.#elsewhere({ to, nonce: this.#nonce }).raw
      case 3:
        return this.#signed({ to, nonce: this.#nonce, maxFeePerGas: GWEI }).raw
      case 4:
        return this.#signed({ to, nonce: this.#nonce, gasLimit: 20_999n }).raw
      case 5:
        return this.#signed({ to, nonce: this.#nonce, value: 10n ** 30n }).raw
      case 6:
        return this.#last ?? this.#right(to)
      case 7:
        return this.#damaged(to)
      default:
        return this.#right(to)
    }
  }

  /** The node said that this nonce is used: by the node's own signing, which these accounts serve too. */
  skip(): void {
    this.#nonce++
  }

  #right(to: Hex): Hex {
    const random = this.#random
    const type = random.pick([0, 0, 1, 2] as const)
    const fields: Fields = {
      type,
      to: random.chance(0.05) ? null : to,
      nonce: this.#nonce++,
      gasLimit: 100_000n,
      value: BigInt(random.below(1_000)),
      ...(type === 2 && { maxPriorityFeePerGas: BigInt(random.below(5)) * GWEI, maxFeePerGas: 40n * GWEI }),
      ...(type !== 0 && { accessList: [{ address: to, storageKeys: [`0x${'00'.repeat(32)}`] }] }),
    }
    this.#last = this.#signed(fields).raw
    return this.#last
  }

  /** One digit is another one. */
  #damaged(to: Hex): Hex {
    const { raw } = this.#signed({ to, nonce: this.#nonce })
    const at = 2 + this.#random.below(raw.length - 2)
    return `${raw.slice(0, at)}${this.#random.below(16).toString(16)}${raw.slice(at + 1)}` as Hex
  }
}
