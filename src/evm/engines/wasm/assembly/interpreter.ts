/*
 * Interpreter: a loop over the opcodes of a frame inside a loop over frames, so that calls need no recursion. Registers are locals;
 * rare opcodes work on the frame's record and are in other files. An operation that needs data from the host leaves everything
 * unchanged and is repeated afterwards.
 */
import { add, clear, copy, equal, fill64, isNegative, isZero, leadingZeros, less, lessSigned, set64, shiftLeft, shiftRight, signExtend, subtract, swapBytes, toSize, byteLength } from "./word";
import { addModulo, divide, divideSigned, multiply, multiplyModulo, power, remainder, remainderSigned } from "./arithmetic";
import { keccak256 } from "../../../../crypto/assembly/keccak";
import { accountAt, ADDRESS, BALANCE, CODE, CODE_LOADED, CODE_SIZE, has, HAS_CODE, HASH_KNOWN, isEmpty, isLoaded } from "./accounts";
import { hashOf, isObjectFormat, lacksCode } from "./codes";
import { loadTransient, setValue, SLOT_LOADED, slotOf, transientOf, VALUE } from "./slots";
import { canRead, readPrice, SENTRY, writePrice } from "./storage";
import { limitSpare } from "./spare";
import { accessPrice, call, canReach } from "./calls";
import { create } from "./creations";
import { selfDestruct } from "./destruction";
import { copyBytes, copyForeignCode, copyInput, copyMemory, log } from "./copies";
import { endFrame } from "./ends";
import { countGas, runCompiled } from "./compiled";
import { fault } from "./faults";
import { allow, pauseAt } from "./clock";
import { beyond, exhausted } from "./memory";
import { BASE_FEE, BLOB_BASE_FEE, BLOB_HASHES, blobs, CHAIN_ID, COINBASE, GAS_LIMIT, GAS_PRICE, NUMBER, ORIGIN, PREV_RANDAO, TIMESTAMP } from "./environment";
import { endOf, fork, growthPrice, ISTANBUL, perWord, SPURIOUS_DRAGON, TABLE } from "./prices";
import { BASE, CALL_VALUE, CALLER, frame, FRAME_CODE, FRAME_CODE_SIZE, FRAME_HEADER, FRAME_JUMPS, GAS, growMemory, INPUT, INPUT_SIZE, IS_STATIC, MEMORY, MEMORY_SIZE, PC, RETURN_SIZE, SELF, SP } from "./frames";
import { EXHAUSTED, failFor, FAILED, GOES_ON, INVALID_JUMP, INVALID_OPCODE, NEEDS_ACCOUNT, NEEDS_BLOCK_HASH, NEEDS_CODE, NEEDS_PRECOMPILE, NEEDS_SLOT, needed, needs, OUT_OF_GAS, PAUSED, RETURNED, REVERTED, STATIC_STATE_CHANGE, UNUSUAL } from "./status";

/** Masks that keep the lowest 0 to 32 bytes of a word. */
const MASKS: usize = memory.data(33 * 32, 16);
const WORD: usize = memory.data(64, 16);
/** keccak256 of 0xef00, which EthereumJS returns for code of the object format. */
const OBJECT_FORMAT_HASH: usize = memory.data(32, 16);
let ready = false;

export function prepare(): void {
  if (ready) return;
  for (let n = 0; n <= 32; n++) memory.fill(MASKS + n * 32, 0xff, n);
  store<u16>(WORD, 0x00ef);
  keccak256(WORD, 2, OBJECT_FORMAT_HASH);
  ready = true;
}

// @ts-ignore: decorator
@inline function swap(a: usize, b: usize): void {
  const low = v128.load(a), high = v128.load(a, 16);
  v128.store(a, v128.load(b));
  v128.store(a, v128.load(b, 16), 16);
  v128.store(b, low);
  v128.store(b, high, 16);
}
/** Adds a small number to a word. */
// @ts-ignore: decorator
@inline function addSmall(at: usize, value: u64): void {
  const low = load<u64>(at) + value;
  store<u64>(at, low);
  if (low >= value) return;
  const second = load<u64>(at, 8) + 1;
  store<u64>(at, second, 8);
  if (second) return;
  const third = load<u64>(at, 16) + 1;
  store<u64>(at, third, 16);
  if (third == 0) store<u64>(at, load<u64>(at, 24) + 1, 24);
}
/** Reads the `count` bytes at `from` as a word: 32 bytes that end with them, reversed and masked. */
// @ts-ignore: decorator
@inline function pushBytes(to: usize, from: usize, count: usize): void {
  swapBytes(to, from + count - 32);
  const mask = MASKS + (count << 5);
  v128.store(to, v128.and(v128.load(to), v128.load(mask)));
  v128.store(to, v128.and(v128.load(to, 16), v128.load(mask, 16)), 16);
}
// @ts-ignore: decorator
@inline function isDestination(jumps: usize, at: u64): bool {
  return ((load<u8>(jumps + <usize>(at >> 3)) >> (<u8>at & 7)) & 1) != 0;
}
export function loadInput(to: usize, input: usize, size: usize, at: u64): void {
  if (at >= <u64>size) return clear(to);
  const from = input + <usize>at, there = <u64>size - at;
  if (there >= 32) return swapBytes(to, from);
  clear(WORD);
  memory.copy(WORD, from, <usize>there);
  swapBytes(to, WORD);
}
/** EXTCODEHASH; the code is loaded where its hash is not known. */
function pushHash(to: usize, account: usize): void {
  if (has(account, HAS_CODE | CODE_LOADED) && load<u32>(account, CODE_SIZE) && isObjectFormat(load<u32>(account, CODE), load<u32>(account, CODE_SIZE))) return swapBytes(to, OBJECT_FORMAT_HASH);
  if (isEmpty(account)) return clear(to);
  swapBytes(to, has(account, HAS_CODE) ? hashOf(account) : EMPTY_HASH);
}
export const EMPTY_HASH: usize = memory.data(32, 16);

/** Runs until the message ends, the host is needed, or `slice` gas is used; 0: the remainder of the last slice. */
export function run(slice: i64): i32 {
  if (slice) allow(load<i64>(frame, GAS), slice);
  const status = frames();
  return beyond ? UNUSUAL : exhausted ? EXHAUSTED : status;
}

function frames(): i32 {
  while (true) {
    const header = <usize>load<u32>(frame, FRAME_HEADER);
    if (header && load<u32>(header)) {
      let answer = runCompiled(header);
      if (answer == FAILED) {
        answer = endFrame(FAILED, 0, 0, 0);
        if (answer == GOES_ON) continue;
      }
      if (answer != GOES_ON) return answer;
    }
    let pc = <usize>load<u32>(frame, PC), sp = <usize>load<u32>(frame, SP), gas = load<i64>(frame, GAS);
    let size = <u64>load<u32>(frame, MEMORY_SIZE);
    const started = gas;
    const base = <usize>load<u32>(frame, BASE), data = <usize>load<u32>(frame, MEMORY);
    const code = <usize>load<u32>(frame, FRAME_CODE), codeSize = <u64>load<u32>(frame, FRAME_CODE_SIZE), jumps = <usize>load<u32>(frame, FRAME_JUMPS);
    let status = GOES_ON, before = gas, from: usize = 0, length: usize = 0;
    while (true) {
      const op = <u32>load<u8>(pc);
      const row = TABLE + (<usize>op << 3), height = <u32>(sp - base);
      before = gas;
      gas -= <i64>load<u16>(row);
      if (gas < 0 || height < <u32>load<u16>(row, 2) || height > <u32>load<u16>(row, 4)) {
        status = fault(op, height, sp, gas);
        break;
      }
      pc++;
      const top = sp - 32;
      switch (op) {
        case 0x00: status = RETURNED; break;
        case 0x01: add(top - 32, top, top - 32); sp = top; continue;
        case 0x02: multiply(top - 32, top, top - 32); sp = top; continue;
        case 0x03: subtract(top - 32, top, top - 32); sp = top; continue;
        case 0x04: divide(top - 32, top, top - 32); sp = top; continue;
        case 0x05: divideSigned(top - 32, top, top - 32); sp = top; continue;
        case 0x06: remainder(top - 32, top, top - 32); sp = top; continue;
        case 0x07: remainderSigned(top - 32, top, top - 32); sp = top; continue;
        case 0x08: addModulo(top - 64, top, top - 32, top - 64); sp = top - 32; continue;
        case 0x09: multiplyModulo(top - 64, top, top - 32, top - 64); sp = top - 32; continue;
        case 0x0a: {
          if (gas < pauseAt) { status = PAUSED; break; }
          gas -= (fork >= SPURIOUS_DRAGON ? 50 : 10) * <i64>byteLength(top - 32);
          if (gas < 0) { status = failFor(OUT_OF_GAS); break; }
          power(top - 32, top, top - 32);
          sp = top;
          continue;
        }
        case 0x0b: signExtend(top - 32, top); sp = top; continue;
        case 0x10: set64(top - 32, u64(less(top, top - 32))); sp = top; continue;
        case 0x11: set64(top - 32, u64(less(top - 32, top))); sp = top; continue;
        case 0x12: set64(top - 32, u64(lessSigned(top, top - 32))); sp = top; continue;
        case 0x13: set64(top - 32, u64(lessSigned(top - 32, top))); sp = top; continue;
        case 0x14: set64(top - 32, u64(equal(top, top - 32))); sp = top; continue;
        case 0x15: set64(top, u64(isZero(top))); continue;
        case 0x16: {
          v128.store(top - 32, v128.and(v128.load(top), v128.load(top - 32)));
          v128.store(top - 16, v128.and(v128.load(top, 16), v128.load(top - 16)));
          sp = top;
          continue;
        }
        case 0x17: {
          v128.store(top - 32, v128.or(v128.load(top), v128.load(top - 32)));
          v128.store(top - 16, v128.or(v128.load(top, 16), v128.load(top - 16)));
          sp = top;
          continue;
        }
        case 0x18: {
          v128.store(top - 32, v128.xor(v128.load(top), v128.load(top - 32)));
          v128.store(top - 16, v128.xor(v128.load(top, 16), v128.load(top - 16)));
          sp = top;
          continue;
        }
        case 0x19: {
          v128.store(top, v128.not(v128.load(top)));
          v128.store(top, v128.not(v128.load(top, 16)), 16);
          continue;
        }
        case 0x1a: {
          const at = toSize(top);
          set64(top - 32, at < 32 ? <u64>load<u8>(top - 1 - <usize>at) : 0);
          sp = top;
          continue;
        }
        case 0x1b: shiftLeft(top - 32, top, top - 32); sp = top; continue;
        case 0x1c: shiftRight(top - 32, top, top - 32, 0); sp = top; continue;
        case 0x1d: shiftRight(top - 32, top, top - 32, isNegative(top - 32) ? u64.MAX_VALUE : 0); sp = top; continue;
        case 0x1e: set64(top, leadingZeros(top)); continue;
        case 0x20: {
          if (gas < pauseAt) { status = PAUSED; break; }
          const offset = toSize(top), bytes = toSize(top - 32), end = endOf(offset, bytes);
          gas -= growthPrice(size, end);
          if (gas >= 0) gas -= perWord(bytes, 6);
          if (gas < 0) { status = failFor(OUT_OF_GAS); break; }
          if (end > size) {
            if (!growMemory(frame, end)) { status = EXHAUSTED; break; }
            size = load<u32>(frame, MEMORY_SIZE);
          }
          keccak256(data + <usize>(bytes ? offset : 0), <usize>bytes, top - 32);
          swapBytes(top - 32, top - 32);
          sp = top;
          continue;
        }
        case 0x30: copy(sp, <usize>load<u32>(frame, SELF) + ADDRESS); sp += 32; continue;
        case 0x31: {
          if (!canReach(top, gas)) { status = failFor(OUT_OF_GAS); break; }
          const account = accountAt(top);
          if (!isLoaded(account)) { status = needs(NEEDS_ACCOUNT, account); break; }
          gas -= accessPrice(account);
          if (gas < 0) { status = failFor(OUT_OF_GAS); break; }
          copy(top, account + BALANCE);
          continue;
        }
        case 0x32: copy(sp, ORIGIN); sp += 32; continue;
        case 0x33: copy(sp, frame + CALLER); sp += 32; continue;
        case 0x34: copy(sp, frame + CALL_VALUE); sp += 32; continue;
        case 0x35: loadInput(top, load<u32>(frame, INPUT), load<u32>(frame, INPUT_SIZE), toSize(top)); continue;
        case 0x36: set64(sp, load<u32>(frame, INPUT_SIZE)); sp += 32; continue;
        case 0x38: set64(sp, codeSize); sp += 32; continue;
        case 0x3a: copy(sp, GAS_PRICE); sp += 32; continue;
        case 0x3b: {
          if (!canReach(top, gas)) { status = failFor(OUT_OF_GAS); break; }
          const account = accountAt(top);
          if (!isLoaded(account)) { status = needs(NEEDS_ACCOUNT, account); break; }
          if (lacksCode(account)) { status = needs(NEEDS_CODE, account); break; }
          gas -= accessPrice(account);
          if (gas < 0) { status = failFor(OUT_OF_GAS); break; }
          const bytes = <u64>load<u32>(account, CODE_SIZE);
          set64(top, bytes && isObjectFormat(load<u32>(account, CODE), bytes) ? 2 : bytes);
          continue;
        }
        case 0x3d: set64(sp, load<u32>(frame, RETURN_SIZE)); sp += 32; continue;
        case 0x3f: {
          if (!canReach(top, gas)) { status = failFor(OUT_OF_GAS); break; }
          const account = accountAt(top);
          if (!isLoaded(account)) { status = needs(NEEDS_ACCOUNT, account); break; }
          if (lacksCode(account)) { status = needs(NEEDS_CODE, account); break; }
          gas -= accessPrice(account);
          if (gas < 0) { status = failFor(OUT_OF_GAS); break; }
          pushHash(top, account);
          continue;
        }
        case 0x40: {
          const number = toSize(top), current = load<u64>(NUMBER);
          if (number >= current || current - number > 256) { clear(top); continue; }
          const known = BLOCK_HASHES + <usize>(number & 255) * HASH_ENTRY;
          if (load<u64>(known, 32) == number + 1) { copy(top, known); continue; }
          status = needs(NEEDS_BLOCK_HASH, number);
          break;
        }
        case 0x41: copy(sp, COINBASE); sp += 32; continue;
        case 0x42: copy(sp, TIMESTAMP); sp += 32; continue;
        case 0x43: copy(sp, NUMBER); sp += 32; continue;
        case 0x44: copy(sp, PREV_RANDAO); sp += 32; continue;
        case 0x45: copy(sp, GAS_LIMIT); sp += 32; continue;
        case 0x46: copy(sp, CHAIN_ID); sp += 32; continue;
        case 0x47: copy(sp, <usize>load<u32>(frame, SELF) + BALANCE); sp += 32; continue;
        case 0x48: copy(sp, BASE_FEE); sp += 32; continue;
        case 0x49: {
          const at = toSize(top);
          if (at < <u64>blobs) copy(top, BLOB_HASHES + (<usize>at << 5)); else clear(top);
          continue;
        }
        case 0x4a: copy(sp, BLOB_BASE_FEE); sp += 32; continue;
        case 0x50: sp = top; continue;
        case 0x51: {
          const offset = toSize(top), end = endOf(offset, 32);
          if (end > size) {
            gas -= growthPrice(size, end);
            if (gas < 0) { status = failFor(OUT_OF_GAS); break; }
            if (!growMemory(frame, end)) { status = EXHAUSTED; break; }
            size = load<u32>(frame, MEMORY_SIZE);
          }
          swapBytes(top, data + <usize>offset);
          continue;
        }
        case 0x52: {
          const offset = toSize(top), end = endOf(offset, 32);
          if (end > size) {
            gas -= growthPrice(size, end);
            if (gas < 0) { status = failFor(OUT_OF_GAS); break; }
            if (!growMemory(frame, end)) { status = EXHAUSTED; break; }
            size = load<u32>(frame, MEMORY_SIZE);
          }
          swapBytes(data + <usize>offset, top - 32);
          sp = top - 32;
          continue;
        }
        case 0x53: {
          const offset = toSize(top), end = endOf(offset, 1);
          if (end > size) {
            gas -= growthPrice(size, end);
            if (gas < 0) { status = failFor(OUT_OF_GAS); break; }
            if (!growMemory(frame, end)) { status = EXHAUSTED; break; }
            size = load<u32>(frame, MEMORY_SIZE);
          }
          store<u8>(data + <usize>offset, load<u8>(top - 32));
          sp = top - 32;
          continue;
        }
        case 0x54: {
          if (!canRead(load<u32>(frame, SELF), top, gas)) { status = failFor(OUT_OF_GAS); break; }
          const slot = slotOf(load<u32>(frame, SELF), top);
          if (!load<u32>(slot, SLOT_LOADED)) { status = needs(NEEDS_SLOT, slot); break; }
          gas -= readPrice(slot);
          if (gas < 0) { status = failFor(OUT_OF_GAS); break; }
          copy(top, slot + VALUE);
          continue;
        }
        case 0x55: {
          if (load<u32>(frame, IS_STATIC)) { status = failFor(STATIC_STATE_CHANGE); break; }
          if (fork >= ISTANBUL && gas <= SENTRY) { status = failFor(OUT_OF_GAS); break; }
          const slot = slotOf(load<u32>(frame, SELF), top);
          if (!load<u32>(slot, SLOT_LOADED)) { status = needs(NEEDS_SLOT, slot); break; }
          if (fork >= ISTANBUL) limitSpare(gas - SENTRY - 1);
          gas -= writePrice(slot, top - 32);
          if (gas < 0) { status = failFor(OUT_OF_GAS); break; }
          setValue(slot, top - 32);
          sp = top - 32;
          continue;
        }
        case 0x56: {
          if (gas < pauseAt) { status = PAUSED; break; }
          const to = toSize(top);
          if (to >= codeSize || !isDestination(jumps, to)) { status = failFor(INVALID_JUMP); break; }
          // The JUMPDEST is paid and skipped here.
          gas--;
          if (gas < 0) { status = failFor(OUT_OF_GAS); break; }
          pc = code + <usize>to + 1;
          sp = top;
          continue;
        }
        case 0x57: {
          if (gas < pauseAt) { status = PAUSED; break; }
          sp = top - 32;
          if (isZero(sp)) continue;
          const to = toSize(top);
          if (to >= codeSize || !isDestination(jumps, to)) { status = failFor(INVALID_JUMP); break; }
          gas--;
          if (gas < 0) { status = failFor(OUT_OF_GAS); break; }
          pc = code + <usize>to + 1;
          continue;
        }
        case 0x58: set64(sp, pc - code - 1); sp += 32; continue;
        case 0x59: set64(sp, size); sp += 32; continue;
        case 0x5a: set64(sp, gas); sp += 32; continue;
        case 0x5b: continue;
        case 0x5c: loadTransient(top, load<u32>(frame, SELF), top); continue;
        case 0x5d: {
          if (load<u32>(frame, IS_STATIC)) { status = failFor(STATIC_STATE_CHANGE); break; }
          setValue(transientOf(load<u32>(frame, SELF), top), top - 32);
          sp = top - 32;
          continue;
        }
        case 0x5f: clear(sp); sp += 32; continue;
        case 0x60: {
          // Fused with a following ADD, where that can be paid and has its other operand.
          if (load<u8>(pc, 1) == 0x01 && height >= 32 && gas >= 3) {
            gas -= 3;
            addSmall(top, load<u8>(pc));
            pc += 2;
            continue;
          }
          set64(sp, load<u8>(pc));
          pc++;
          sp += 32;
          continue;
        }
        case 0x61: {
          const to = <u64>bswap<u16>(load<u16>(pc)), next = load<u8>(pc, 2);
          // Fused with a following jump where all checks pass; otherwise both run separately.
          if ((next == 0x57 || next == 0x56) && gas >= 11 && gas - 11 >= pauseAt && to < codeSize && isDestination(jumps, to)) {
            if (next == 0x56) {
              gas -= 9;
              pc = code + <usize>to + 1;
              continue;
            }
            if (height >= 32) {
              sp = top;
              if (isZero(top)) {
                gas -= 10;
                pc += 3;
              } else {
                gas -= 11;
                pc = code + <usize>to + 1;
              }
              continue;
            }
          }
          set64(sp, to);
          pc += 2;
          sp += 32;
          continue;
        }
        case 0x62: set64(sp, (<u64>load<u8>(pc) << 16) | <u64>bswap<u16>(load<u16>(pc, 1))); pc += 3; sp += 32; continue;
        case 0x63: set64(sp, <u64>bswap<u32>(load<u32>(pc))); pc += 4; sp += 32; continue;
        case 0x64: pushBytes(sp, pc, 5); pc += 5; sp += 32; continue;
        case 0x65: pushBytes(sp, pc, 6); pc += 6; sp += 32; continue;
        case 0x66: pushBytes(sp, pc, 7); pc += 7; sp += 32; continue;
        case 0x67: pushBytes(sp, pc, 8); pc += 8; sp += 32; continue;
        case 0x68: pushBytes(sp, pc, 9); pc += 9; sp += 32; continue;
        case 0x69: pushBytes(sp, pc, 10); pc += 10; sp += 32; continue;
        case 0x6a: pushBytes(sp, pc, 11); pc += 11; sp += 32; continue;
        case 0x6b: pushBytes(sp, pc, 12); pc += 12; sp += 32; continue;
        case 0x6c: pushBytes(sp, pc, 13); pc += 13; sp += 32; continue;
        case 0x6d: pushBytes(sp, pc, 14); pc += 14; sp += 32; continue;
        case 0x6e: pushBytes(sp, pc, 15); pc += 15; sp += 32; continue;
        case 0x6f: pushBytes(sp, pc, 16); pc += 16; sp += 32; continue;
        case 0x70: pushBytes(sp, pc, 17); pc += 17; sp += 32; continue;
        case 0x71: pushBytes(sp, pc, 18); pc += 18; sp += 32; continue;
        case 0x72: pushBytes(sp, pc, 19); pc += 19; sp += 32; continue;
        case 0x73: pushBytes(sp, pc, 20); pc += 20; sp += 32; continue;
        case 0x74: pushBytes(sp, pc, 21); pc += 21; sp += 32; continue;
        case 0x75: pushBytes(sp, pc, 22); pc += 22; sp += 32; continue;
        case 0x76: pushBytes(sp, pc, 23); pc += 23; sp += 32; continue;
        case 0x77: pushBytes(sp, pc, 24); pc += 24; sp += 32; continue;
        case 0x78: pushBytes(sp, pc, 25); pc += 25; sp += 32; continue;
        case 0x79: pushBytes(sp, pc, 26); pc += 26; sp += 32; continue;
        case 0x7a: pushBytes(sp, pc, 27); pc += 27; sp += 32; continue;
        case 0x7b: pushBytes(sp, pc, 28); pc += 28; sp += 32; continue;
        case 0x7c: pushBytes(sp, pc, 29); pc += 29; sp += 32; continue;
        case 0x7d: pushBytes(sp, pc, 30); pc += 30; sp += 32; continue;
        case 0x7e: pushBytes(sp, pc, 31); pc += 31; sp += 32; continue;
        case 0x7f: pushBytes(sp, pc, 32); pc += 32; sp += 32; continue;
        case 0x80: copy(sp, sp - 32); sp += 32; continue;
        case 0x81: copy(sp, sp - 64); sp += 32; continue;
        case 0x82: copy(sp, sp - 96); sp += 32; continue;
        case 0x83: copy(sp, sp - 128); sp += 32; continue;
        case 0x84: copy(sp, sp - 160); sp += 32; continue;
        case 0x85: copy(sp, sp - 192); sp += 32; continue;
        case 0x86: copy(sp, sp - 224); sp += 32; continue;
        case 0x87: copy(sp, sp - 256); sp += 32; continue;
        case 0x88: copy(sp, sp - 288); sp += 32; continue;
        case 0x89: copy(sp, sp - 320); sp += 32; continue;
        case 0x8a: copy(sp, sp - 352); sp += 32; continue;
        case 0x8b: copy(sp, sp - 384); sp += 32; continue;
        case 0x8c: copy(sp, sp - 416); sp += 32; continue;
        case 0x8d: copy(sp, sp - 448); sp += 32; continue;
        case 0x8e: copy(sp, sp - 480); sp += 32; continue;
        case 0x8f: copy(sp, sp - 512); sp += 32; continue;
        case 0x90: swap(top, top - 32); continue;
        case 0x91: swap(top, top - 64); continue;
        case 0x92: swap(top, top - 96); continue;
        case 0x93: swap(top, top - 128); continue;
        case 0x94: swap(top, top - 160); continue;
        case 0x95: swap(top, top - 192); continue;
        case 0x96: swap(top, top - 224); continue;
        case 0x97: swap(top, top - 256); continue;
        case 0x98: swap(top, top - 288); continue;
        case 0x99: swap(top, top - 320); continue;
        case 0x9a: swap(top, top - 352); continue;
        case 0x9b: swap(top, top - 384); continue;
        case 0x9c: swap(top, top - 416); continue;
        case 0x9d: swap(top, top - 448); continue;
        case 0x9e: swap(top, top - 480); continue;
        case 0x9f: swap(top, top - 512); continue;
        case 0xf3:
        case 0xfd: {
          const offset = toSize(top), bytes = toSize(top - 32), end = endOf(offset, bytes);
          gas -= growthPrice(size, end);
          if (gas < 0) { status = failFor(OUT_OF_GAS); break; }
          if (!growMemory(frame, end)) { status = EXHAUSTED; break; }
          from = data + <usize>(bytes ? offset : 0);
          length = <usize>bytes;
          status = op == 0xf3 ? RETURNED : REVERTED;
          break;
        }
        case 0x37: {
          const bytes = toSize(top - 64);
          // Into memory that is there already; otherwise as a rare opcode.
          if (bytes <= 1024 && endOf(toSize(top), bytes) <= size && gas >= pauseAt) {
            gas -= perWord(bytes, 3);
            if (gas < 0) { status = failFor(OUT_OF_GAS); break; }
            if (bytes) copyInput(data + <usize>toSize(top), <usize>bytes, toSize(top - 32));
            sp = top - 64;
            continue;
          }
        }
        default: {
          if (gas < pauseAt) { status = PAUSED; break; }
          // Runs on the record of the frame.
          store<u32>(frame, <u32>pc, PC);
          store<u32>(frame, <u32>sp, SP);
          store<i64>(frame, gas, GAS);
          status = rare(op);
          // SELFDESTRUCT has charged its price to the record.
          if (status == RETURNED) gas = load<i64>(frame, GAS);
          break;
        }
      }
      break;
    }
    if (header) countGas(header, started - before);
    if (status == GOES_ON) continue;
    if (status == RETURNED || status == REVERTED || status == FAILED) {
      status = endFrame(status, gas, from, length);
      if (status != GOES_ON) return status;
      continue;
    }
    if (status == NEEDS_PRECOMPILE) return status;
    // To be repeated.
    store<u32>(frame, <u32>(pc - 1), PC);
    store<u32>(frame, <u32>sp, SP);
    store<i64>(frame, before, GAS);
    return status;
  }
}

/** Opcodes that work on the record of their frame. */
function rare(op: u32): i32 {
  switch (op) {
    case 0x37:
    case 0x39:
    case 0x3e: return copyBytes(op);
    case 0x3c: return copyForeignCode();
    case 0x5e: return copyMemory();
    case 0xa0:
    case 0xa1:
    case 0xa2:
    case 0xa3:
    case 0xa4: return log(op);
    case 0xf0:
    case 0xf5: return create(op);
    case 0xf1:
    case 0xf2:
    case 0xf4:
    case 0xfa: return call(op);
    case 0xff: return selfDestruct();
  }
  return failFor(INVALID_OPCODE);
}

/** Hashes of the last 256 blocks that the message has asked for: the hash, then the block's number and one. */
const HASH_ENTRY: usize = 40;
const BLOCK_HASHES: usize = memory.data(256 * 40, 16);
export function forgetBlockHashes(): void { memory.fill(BLOCK_HASHES, 0, 256 * HASH_ENTRY); }

/** Response to NEEDS_BLOCK_HASH: replaces the number, and the opcode is done. */
export function provideBlockHash(word: usize): void {
  const known = BLOCK_HASHES + <usize>(needed & 255) * HASH_ENTRY;
  copy(known, word);
  store<u64>(known, needed + 1, 32);
  copy(<usize>load<u32>(frame, SP) - 32, word);
  store<u32>(frame, load<u32>(frame, PC) + 1, PC);
  store<i64>(frame, load<i64>(frame, GAS) - 20, GAS);
}
