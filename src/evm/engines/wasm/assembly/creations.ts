/* CREATE and CREATE2, and creation by a transaction. */
import { clear, copy, less, swapBytes, toSize } from "./word";
import { keccak256 } from "../../../../crypto/assembly/keccak";
import { align, exhaust, reserve } from "./memory";
import { accountAt, change, has, isLoaded, warmAccount } from "./accounts";
import { setCodeOf } from "./codes";
import { moveClock, pauseAt } from "./clock";
import { save, setFrameMark, undoAt } from "./undo";
import { DEPTH_LIMIT, mark, overflows, transfer } from "./calls";
import { dropSlotsLater } from "./slots";
import { endFrame } from "./ends";
import { addTransfer } from "./logs";
import { endOf, fork, growthPrice, perWord } from "./prices";
import { above, analyse, CODE_TAIL, frame, growMemory, openFrame, push, setCode, setFrame } from "./frames";
import { failFor, needs } from "./status";
import * as OP from "./opcodes";
import { enteredStep, exitedStep, noGas, setStepGas } from "./steps";
import { ADDRESS, ADDRESS_BYTES, BALANCE, BALANCE_TOO_LOW, CALLER, CALL_TOO_DEEP, CALL_VALUE, CREATED, CREATE_COLLISION, CREATE_TRANSFER, DEPTH, EXHAUSTED, EXISTS, FLAGS, GAS, GOES_ON, HAS_CODE, HAS_STORAGE, INIT_CODE_TOO_LARGE, IS_CREATION, IS_STATIC, MEMORY, MEMORY_SIZE, NEEDS_ACCOUNT, NONCE, NONCE_TOO_HIGH, PARENT, PASSED, PAUSED, REFUSED, RETURNED, RETURN_SIZE, SELF, SP, STATIC_STATE_CHANGE, TOUCHED, VALUE_OVERFLOW } from "./layout";
import { BERLIN, SHANGHAI, SPURIOUS_DRAGON, TANGERINE_WHISTLE } from "./forks";

const HASH_WORD_PRICE: i64 = 6;
const INIT_CODE_WORD_PRICE: i64 = 2;
/** Largest init code (EIP-3860). */
let initCodeLimit: u64 = 0;
export function setInitCodeLimit(bytes: u32): void { initCodeLimit = bytes; }

const BYTES: usize = memory.data(96, 16);
const HASH: usize = memory.data(32, 16);
const NEW: usize = memory.data(32, 16);
const WORD: usize = memory.data(32, 16);

/** Writes the lowest 20 bytes of the hash of `size` bytes at BYTES as a word to NEW. */
function addressFrom(size: usize): usize {
  keccak256(BYTES, size, HASH);
  swapBytes(NEW, HASH);
  store<u32>(NEW, 0, 20);
  store<u64>(NEW, 0, 24);
  return NEW;
}

/** keccak256(rlp([creator, nonce])). */
export function addressByNonce(creator: usize, nonce: u64): usize {
  let bytes: usize = 0;
  for (let n = nonce; n; n >>= 8) bytes++;
  const tail: usize = nonce < 128 ? 1 : bytes + 1;
  store<u8>(BYTES, <u8>(0xc0 + 21 + tail));
  store<u8>(BYTES, 0x94, 1);
  memory.copy(BYTES + 2, creator + ADDRESS_BYTES, 20);
  if (nonce < 128) store<u8>(BYTES, nonce ? <u8>nonce : 0x80, 22);
  else {
    store<u8>(BYTES, <u8>(0x80 + bytes), 22);
    for (let i: usize = 0; i < bytes; i++) store<u8>(BYTES + 23 + i, <u8>(nonce >> ((bytes - 1 - i) << 3)));
  }
  return addressFrom(22 + tail);
}

/** keccak256(0xff, creator, salt, keccak256(init code)) (EIP-1014). */
function addressBySalt(creator: usize, salt: usize, code: usize, size: usize): usize {
  keccak256(code, size, BYTES + 53);
  store<u8>(BYTES, 0xff);
  memory.copy(BYTES + 1, creator + ADDRESS_BYTES, 20);
  swapBytes(BYTES + 21, salt);
  return addressFrom(85);
}

function answerZero(): i32 {
  clear(WORD);
  push(frame, WORD);
  return GOES_ON;
}

export function create(op: u32): i32 {
  const sp = <usize>load<u32>(frame, SP), value = sp - 32;
  if (!STEPS && load<u32>(frame, IS_STATIC)) return failFor(STATIC_STATE_CHANGE);
  let gas = load<i64>(frame, GAS);
  if (gas < pauseAt) return PAUSED;
  const offset = toSize(sp - 64), length = toSize(sp - 96), end = endOf(offset, length);
  gas -= growthPrice(load<u32>(frame, MEMORY_SIZE), end);
  if (fork >= SHANGHAI) gas -= perWord(length, INIT_CODE_WORD_PRICE);
  if ((STEPS || gas >= 0) && op == OP.CREATE2) gas -= perWord(length, HASH_WORD_PRICE);
  if (gas < 0) return noGas(gas);
  if (STEPS) {
    setStepGas(gas);
    if (load<u32>(frame, IS_STATIC)) return failFor(STATIC_STATE_CHANGE);
  }
  if (fork >= SHANGHAI && length > initCodeLimit) return failFor(INIT_CODE_TOO_LARGE);
  // Growing the memory twice is free: it is done before the account is loaded, and the price is charged at each attempt.
  const had = load<u32>(frame, MEMORY_SIZE);
  if (!growMemory(frame, end)) return EXHAUSTED;
  const size = <usize>length, code = <usize>load<u32>(frame, MEMORY) + <usize>(size ? offset : 0);
  const self = <usize>load<u32>(frame, SELF), count: usize = op == OP.CREATE2 ? 128 : 96;
  const isDeep = load<u32>(frame, DEPTH) >= DEPTH_LIMIT, isPoor = less(self + BALANCE, value);
  const fails = isDeep || isPoor || load<u64>(self, NONCE) == u64.MAX_VALUE;
  let created: usize = 0;
  if (!fails) {
    created = accountAt(op == OP.CREATE2 ? addressBySalt(self, sp - 128, code, size) : addressByNonce(self, load<u64>(self, NONCE)));
    if (!isLoaded(created)) {
      store<u32>(frame, had, MEMORY_SIZE);
      return needs(NEEDS_ACCOUNT, created);
    }
  }
  store<i64>(frame, gas, GAS);
  store<u32>(frame, <u32>(sp - count), SP);
  store<u32>(frame, 0, RETURN_SIZE);
  const passed = fork >= TANGERINE_WHISTLE ? gas - (gas >> 6) : gas;
  if (STEPS) enteredStep(op, self, fails ? self : created, code, size, passed, value);
  if (fails) {
    if (STEPS) {
      failFor(isDeep ? CALL_TOO_DEEP : isPoor ? BALANCE_TOO_LOW : NONCE_TOO_HIGH);
      exitedStep(REFUSED, passed, 0, 0);
    }
    return answerZero();
  }
  store<i64>(frame, gas - passed, GAS);
  change(self);
  store<u64>(self, load<u64>(self, NONCE) + 1, NONCE);
  if (fork >= BERLIN) warmAccount(created);
  moveClock(gas, passed);
  return openCreation(self, created, value, code, size, passed);
}

/** Opens the frame of a creation; the creator's nonce is already raised. */
export function openCreation(creator: usize, created: usize, value: usize, from: usize, size: usize, gas: i64): i32 {
  const code = above(), jumps = code + size + CODE_TAIL;
  if (!reserve(code, <u64>size + (size >> 3) + 4096)) {
    exhaust();
    return EXHAUSTED;
  }
  if (from != code) memory.copy(code, from, size);
  memory.fill(code + size, 0, CODE_TAIL);
  analyse(code, size, jumps);
  const at = openFrame(align(jumps + (size >> 3) + 2));
  if (at == 0) return EXHAUSTED;
  mark(at);
  setFrameMark(undoAt);
  store<u32>(at, <u32>created, SELF);
  store<u32>(at, 1, IS_CREATION);
  store<i64>(at, gas, GAS);
  store<i64>(at, gas, PASSED);
  copy(at + CALLER, creator + ADDRESS);
  copy(at + CALL_VALUE, value);
  setCode(at, code, size, jumps);
  setFrame(at);
  if (fork >= SHANGHAI && <u64>size > initCodeLimit) return endFrame(failFor(INIT_CODE_TOO_LARGE), 0, 0, 0);
  if (load<u64>(created, NONCE) || has(created, HAS_CODE) || load<u32>(created, HAS_STORAGE)) return endFrame(failFor(CREATE_COLLISION), 0, 0, 0);
  dropSlotsLater();
  save(created);
  store<u32>(created, load<u32>(created, FLAGS) | EXISTS | TOUCHED | CREATED, FLAGS);
  setCodeOf(created, 0, 0);
  store<u64>(created, fork >= SPURIOUS_DRAGON ? 1 : 0, NONCE);
  if (load<u32>(at, PARENT)) addTransfer(CREATE_TRANSFER, creator, created, value);
  if (overflows(creator, created, value)) {
    failFor(VALUE_OVERFLOW);
    return endFrame(REFUSED, gas, 0, 0);
  }
  transfer(creator, created, value);
  if (STEPS && size == 0) return endFrame(RETURNED, gas, 0, 0);
  return GOES_ON;
}

