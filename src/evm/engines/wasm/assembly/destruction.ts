/* SELFDESTRUCT. */
import { add, clear, fill64, isZero, less } from "./word";
import { accountAt, change, has, isEmpty, isLoaded, raise, touch, warmAccount } from "./accounts";
import { addRefund } from "./refund";
import { dropSlotsLater } from "./slots";
import { addTransfer } from "./logs";
import { COLD_ACCOUNT, fork } from "./prices";
import { frame } from "./frames";
import { failFor, needs } from "./status";
import { destructedStep, noGas } from "./steps";
import { BALANCE, CREATED, DESTROYED, DESTRUCT_TRANSFER, EXISTS, GAS, IS_STATIC, NEEDS_ACCOUNT, RETURNED, SELF, SELF_TRANSFER, SP, STATIC_STATE_CHANGE } from "./layout";
import { BERLIN, CANCUN, LONDON, SPURIOUS_DRAGON, TANGERINE_WHISTLE } from "./forks";

const NEW_ACCOUNT_PRICE: i64 = 25000;
const REFUND: i64 = 24000;

export function selfDestruct(): i32 {
  if (load<u32>(frame, IS_STATIC)) return failFor(STATIC_STATE_CHANGE);
  const self = <usize>load<u32>(frame, SELF), heir = accountAt(<usize>load<u32>(frame, SP) - 32);
  if (!isLoaded(heir)) return needs(NEEDS_ACCOUNT, heir);
  let gas = load<i64>(frame, GAS);
  if (fork >= SPURIOUS_DRAGON) {
    if (!isZero(self + BALANCE) && isEmpty(heir)) gas -= NEW_ACCOUNT_PRICE;
  } else if (fork >= TANGERINE_WHISTLE && !has(heir, EXISTS)) gas -= NEW_ACCOUNT_PRICE;
  if (fork >= BERLIN && warmAccount(heir)) gas -= COLD_ACCOUNT;
  if (gas < 0) return noGas(gas);
  store<i64>(frame, gas, GAS);
  if (STEPS) destructedStep(self, heir, self + BALANCE, gas);
  if (fork < LONDON && !has(self, DESTROYED)) addRefund(REFUND);
  dropSlotsLater();
  raise(self, DESTROYED);
  if (heir != self) {
    if (isZero(self + BALANCE)) touch(heir);
    else {
      addTransfer(DESTRUCT_TRANSFER, self, heir, self + BALANCE);
      change(heir);
    }
    add(heir + BALANCE, heir + BALANCE, self + BALANCE);
    // A balance has an end, which no chain reaches.
    if (less(heir + BALANCE, self + BALANCE)) fill64(heir + BALANCE, u64.MAX_VALUE);
  } else if (!isZero(self + BALANCE)) addTransfer(SELF_TRANSFER, self, self, self + BALANCE);
  // An account older than the transaction loses only its balance (EIP-6780).
  if (fork < CANCUN || heir != self || has(self, CREATED)) {
    change(self);
    clear(self + BALANCE);
  }
  return RETURNED;
}
