/* SELFDESTRUCT. */
import { add, clear, isZero, less } from "./word";
import { accountAt, change, has, isEmpty, isLoaded, raise, touch, warmAccount } from "./accounts";
import { addRefund } from "./refund";
import { dropSlotsLater } from "./slots";
import { addTransfer } from "./logs";
import { COLD_ACCOUNT, fork } from "./prices";
import { frame } from "./frames";
import { failFor, needs } from "./status";
import { BALANCE, CREATED, DESTROYED, DESTRUCT_TRANSFER, EXISTS, GAS, IS_STATIC, NEEDS_ACCOUNT, OUT_OF_GAS, RETURNED, SELF, SP, STATIC_STATE_CHANGE, UNUSUAL } from "./layout";
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
  if (gas < 0) return failFor(OUT_OF_GAS);
  store<i64>(frame, gas, GAS);
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
    if (less(heir + BALANCE, self + BALANCE)) return UNUSUAL;
  }
  // An account older than the transaction loses only its balance (EIP-6780).
  if (fork < CANCUN || heir != self || has(self, CREATED)) {
    change(self);
    clear(self + BALANCE);
  }
  return RETURNED;
}
