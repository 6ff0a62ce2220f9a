/* Prices and refunds of SLOAD and SSTORE by fork. */
import { equal, isZero } from "./word";
import { COLD_SLOT, fork, WARM_READ } from "./prices";
import { maybeWarmSlot, warmSlot } from "./slots";
import { addRefund } from "./refund";
import { ORIGINAL, VALUE } from "./layout";
import { BERLIN, CONSTANTINOPLE, ISTANBUL, LONDON } from "./forks";

/** Gas that must remain before a write (EIP-2200). */
export const SENTRY: i64 = 2300;

/** True when this gas may pay for a read: checked before anything is loaded for it. */
@inline export function canRead(account: usize, key: usize, gas: i64): bool {
  return gas >= COLD_SLOT || fork < BERLIN || maybeWarmSlot(account, key);
}
/** In addition to the opcode's own price. */
@inline export function readPrice(slot: usize): i64 {
  if (fork < BERLIN) return 0;
  return warmSlot(slot) ? COLD_SLOT : WARM_READ;
}

/** Price of a write with its refund; the slot becomes warm. */
export function writePrice(slot: usize, word: usize): i64 {
  if (fork >= ISTANBUL || fork == CONSTANTINOPLE) return netPrice(slot, word);
  const was = isZero(slot + VALUE), becomes = isZero(word);
  if (was && !becomes) return 20000;
  if (!was && becomes) addRefund(15000);
  return 5000;
}

/** EIP-1283, EIP-2200, EIP-2929, EIP-3529: the same rules with other prices. */
function netPrice(slot: usize, word: usize): i64 {
  const noop: i64 = fork >= BERLIN ? WARM_READ : fork >= ISTANBUL ? 800 : 200;
  const reset: i64 = fork >= BERLIN ? 5000 - COLD_SLOT : 5000;
  const clearing: i64 = fork >= LONDON ? 4800 : 15000;
  const cold: i64 = fork >= BERLIN && warmSlot(slot) ? COLD_SLOT : 0;
  const value = slot + VALUE, original = slot + ORIGINAL;
  if (equal(value, word)) return cold + noop;
  const wasZero = isZero(original);
  if (equal(original, value)) {
    if (wasZero) return cold + 20000;
    if (isZero(word)) addRefund(clearing);
    return cold + reset;
  }
  if (!wasZero) {
    if (isZero(value)) addRefund(-clearing);
    else if (isZero(word)) addRefund(clearing);
  }
  if (equal(original, word)) addRefund((wasZero ? 20000 : reset) - noop);
  return cold + noop;
}
