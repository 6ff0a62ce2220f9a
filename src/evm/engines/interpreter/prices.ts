import type { Hex } from '../../../util/bytes.ts'
import type { Execution } from './execution.ts'
import type { Frame } from './frame.ts'

const COLD_ACCOUNT = 2_600
const WARM_READ = 100

/** Gas for each word that a length fills. Infinity, or more than any gas, for lengths that cannot be. */
export const perWord = (length: bigint, price: number): number => Math.ceil(Number(length) / 32) * price

/** An access to an account (EIP-2929), which is warm from here on; `before` is the price in older forks. */
export const accessPrice = (vm: Execution, address: Hex, before: number): number => {
  if (!vm.rules.hasAccessPrices) return before
  return vm.access.touch(address) ? COLD_ACCOUNT : WARM_READ
}

/** Whether the frame has so much gas; always where each step is shown with its whole price, or accesses are reported. */
export const canPay = (frame: Frame, { trace, access }: Execution, gas: number): boolean =>
  frame.gas >= gas || frame.spareGas > 0n || trace !== undefined || access.isRecorded

/** Whether an access to the account may be paid: asked before the state is read for it. Where not, the opcode is out of gas. */
export const canReach = (frame: Frame, vm: Execution, address: Hex): boolean =>
  !vm.rules.hasAccessPrices || canPay(frame, vm, COLD_ACCOUNT) || !vm.access.isCold(address)

/** The gas that may be passed on when so much is paid first; negative where there is not so much. */
export const gasToPass = (frame: Frame, { rules }: Execution, price: number): bigint | number => {
  if (frame.spareGas === 0n) {
    const left = frame.gas - price
    return rules.keepsSixtyFourth && left >= 0 ? left - Math.floor(left / 64) : left
  }
  if (price === Number.POSITIVE_INFINITY) return -1
  const left = frame.gasLeft - BigInt(price)
  return rules.keepsSixtyFourth && left >= 0n ? left - left / 64n : left
}
