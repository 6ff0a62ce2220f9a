/*
 * Interpreter: a loop over the opcodes of a frame inside a loop over frames, so that calls need no recursion. Registers are locals;
 * rare opcodes work on the frame's record and are in other files. An operation that needs data from the host leaves everything
 * unchanged and is repeated afterwards.
 */
import { add, clear, copy, equal, isNegative, isZero, leadingZeros, less, lessSigned, set64, shiftLeft, shiftRight, signExtend, subtract, swapBytes, toSize } from "./word";
import { addModulo, divide, divideSigned, multiply, multiplyModulo, remainder, remainderSigned } from "./arithmetic";
import { ADDRESS, BALANCE } from "./accounts";
import { loadTransient } from "./slots";
import { copyInput } from "./copies";
import { endFrame } from "./ends";
import { fault } from "./faults";
import { allow, pauseAt } from "./clock";
import { beyond, exhausted } from "./memory";
import { BASE_FEE, BLOB_BASE_FEE, BLOB_HASHES, blobs, CHAIN_ID, COINBASE, GAS_LIMIT, GAS_PRICE, NUMBER, ORIGIN, PREV_RANDAO, TIMESTAMP } from "./environment";
import { endOf, growthPrice, perWord, TABLE } from "./prices";
import { BASE, CALL_VALUE, CALLER, frame, FRAME_CODE, FRAME_CODE_SIZE, FRAME_JUMPS, GAS, growMemory, INPUT, INPUT_SIZE, MEMORY, MEMORY_SIZE, PC, RETURN_SIZE, SELF, SP } from "./frames";
import { EXHAUSTED, failFor, FAILED, GOES_ON, INVALID_JUMP, NEEDS_PRECOMPILE, OUT_OF_GAS, PAUSED, RETURNED, REVERTED, UNUSUAL } from "./status";
import { blockHash } from "./block-hashes";
import { addSmall, isDestination, loadInput, pushBytes, swap } from "./operands";
import { balanceAt, codeHashAt, codeSizeAt, endOfOperation, hashAt, loadSlotAt, powerAt, storeSlotAt, storeTransientAt } from "./operations";
import { rare } from "./rare";

/** Runs until the message ends, the host is needed, or `slice` gas is used; 0: the remainder of the last slice. */
export function run(slice: i64): i32 {
  if (slice) allow(load<i64>(frame, GAS), slice);
  const status = frames();
  return beyond ? UNUSUAL : exhausted ? EXHAUSTED : status;
}

function frames(): i32 {
  while (true) {
    let pc = <usize>load<u32>(frame, PC), sp = <usize>load<u32>(frame, SP), gas = load<i64>(frame, GAS);
    let size = <u64>load<u32>(frame, MEMORY_SIZE);
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
          const left = powerAt(top, gas);
          if (left < 0) { status = endOfOperation(left); break; }
          gas = left;
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
          const left = hashAt(top, gas);
          if (left < 0) { status = endOfOperation(left); break; }
          gas = left;
          size = load<u32>(frame, MEMORY_SIZE);
          sp = top;
          continue;
        }
        case 0x30: copy(sp, <usize>load<u32>(frame, SELF) + ADDRESS); sp += 32; continue;
        case 0x31: {
          const left = balanceAt(top, gas);
          if (left < 0) { status = endOfOperation(left); break; }
          gas = left;
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
          const left = codeSizeAt(top, gas);
          if (left < 0) { status = endOfOperation(left); break; }
          gas = left;
          continue;
        }
        case 0x3d: set64(sp, load<u32>(frame, RETURN_SIZE)); sp += 32; continue;
        case 0x3f: {
          const left = codeHashAt(top, gas);
          if (left < 0) { status = endOfOperation(left); break; }
          gas = left;
          continue;
        }
        case 0x40: {
          status = blockHash(top);
          if (status != GOES_ON) break;
          continue;
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
          const left = loadSlotAt(top, gas);
          if (left < 0) { status = endOfOperation(left); break; }
          gas = left;
          continue;
        }
        case 0x55: {
          const left = storeSlotAt(top, gas);
          if (left < 0) { status = endOfOperation(left); break; }
          gas = left;
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
          const left = storeTransientAt(top, gas);
          if (left < 0) { status = endOfOperation(left); break; }
          gas = left;
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
