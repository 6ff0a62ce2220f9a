import type { Hex } from '@tandem/base/bytes.ts'
import type { Frame } from './frame/frame.ts'
import type { Execution } from './transaction/execution.ts'

const COLD_ACCOUNT = 2_600
const WARM_READ = 100

/** Gas per started word of a length. Infinity, or more than any gas, for impossible lengths. */
export const perWord = (length: bigint, price: number): number => Math.ceil(Number(length) / 32) * price

/** Price of an access to an account (EIP-2929), which becomes warm; `before` is the price in older forks. */
export const accessPrice = (vm: Execution, address: Hex, before: number): number => {
  if (!vm.rules.hasAccessPrices) return before
  return vm.access.touch(address) ? COLD_ACCOUNT : WARM_READ
}

/** True when the frame has this gas; always true where steps are shown with their whole price, or accesses are reported. */
export const canPay = (frame: Frame, { trace, access }: Execution, gas: number): boolean =>
  frame.gas >= gas || frame.spareGas > 0n || trace !== undefined || access.isRecorded

/**
 * True when an access to the account can be paid: checked before the state is read for it. Otherwise the opcode is out of gas.
 */
export const canReach = (frame: Frame, vm: Execution, address: Hex): boolean =>
  !vm.rules.hasAccessPrices || canPay(frame, vm, COLD_ACCOUNT) || !vm.access.isCold(address)

/** Returns the gas that may be passed on after paying `price`; negative when it cannot be paid. */
export const gasToPass = (frame: Frame, { rules }: Execution, price: number): bigint | number => {
  if (frame.spareGas === 0n) {
    const left = frame.gas - price
    return rules.keepsSixtyFourth && left >= 0 ? left - Math.floor(left / 64) : left
  }
  if (price === Number.POSITIVE_INFINITY) return -1
  const left = frame.gasLeft - BigInt(price)
  return rules.keepsSixtyFourth && left >= 0n ? left - left / 64n : left
}
