/* SELFDESTRUCT. */
import { add, clear, isZero, less } from "./word";
import { accountAt, BALANCE, change, CREATED, DESTROYED, EXISTS, has, isEmpty, isLoaded, raise, touch, warmAccount } from "./accounts";
import { addRefund } from "./refund";
import { dropSlotsLater } from "./slots";
import { addTransfer, DESTRUCT_TRANSFER } from "./logs";
import { BERLIN, CANCUN, COLD_ACCOUNT, fork, LONDON, SPURIOUS_DRAGON, TANGERINE_WHISTLE } from "./prices";
import { frame, GAS, IS_STATIC, SELF, SP } from "./frames";
import { failFor, NEEDS_ACCOUNT, needs, OUT_OF_GAS, RETURNED, STATIC_STATE_CHANGE, UNUSUAL } from "./status";

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
