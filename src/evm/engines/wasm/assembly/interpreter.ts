/*
 * Interpreter: a loop over the opcodes of a frame inside a loop over frames, so that calls need no recursion. Registers are locals;
 * rare opcodes work on the frame's record and are in other files. An operation that needs data from the host leaves everything
 * unchanged and is repeated afterwards.
 */
import { add, clear, copy, equal, isNegative, isZero, leadingZeros, less, lessSigned, set64, shiftLeft, shiftRight, signExtend, subtract, swapBytes, toSize } from "./word";
import { addModulo, divide, divideSigned, multiply, multiplyModulo, remainder, remainderSigned } from "./arithmetic";
import { loadTransient } from "./slots";
import { copyInput } from "./copies";
import { endFrame } from "./ends";
import { fault } from "./faults";
import { allow, pauseAt } from "./clock";
import { exhausted } from "./memory";
import { BASE_FEE, BLOB_BASE_FEE, BLOB_HASHES, blobs, CHAIN_ID, COINBASE, GAS_LIMIT, GAS_PRICE, NUMBER, ORIGIN, PREV_RANDAO, TIMESTAMP } from "./environment";
import { endOf, growthPrice, perWord, TABLE, WATCHED } from "./prices";
import { frame, growMemory } from "./frames";
import { failFor, reason } from "./status";
import { blockHash } from "./block-hashes";
import { addSmall, isDestination, loadInput, pushBytes, swap } from "./operands";
import { balanceAt, codeHashAt, codeSizeAt, endOfOperation, hashAt, loadSlotAt, powerAt, storeSlotAt, storeTransientAt } from "./operations";
import { rare } from "./rare";
import * as OP from "./opcodes";
import { beginStep, failStep, repeatStep, setStepGas, settleStep, stepGas } from "./steps";
import { ADDRESS, BALANCE, BASE, CALLER, CALL_VALUE, EXHAUSTED, FAILED, FRAME_CODE, FRAME_CODE_SIZE, FRAME_JUMPS, GAS, GOES_ON, INPUT, INPUT_SIZE, INVALID_JUMP, MEMORY, MEMORY_SIZE, NEEDS_PRECOMPILE, OUT_OF_GAS, PAUSED, PC, RETURNED, RETURN_SIZE, REVERTED, SELF, SP, WAITS } from "./layout";

/** Runs until the message ends, the host is needed, or `slice` gas is used; 0: the remainder of the last slice. */
export function run(slice: i64): i32 {
  if (slice) allow(load<i64>(frame, GAS), slice);
  const status = frames();
  return exhausted ? EXHAUSTED : status;
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
      if (STEPS && beginStep(op, height, (load<u16>(row, 6) & WATCHED) != 0, pc, sp, gas)) return WAITS;
      before = gas;
      gas -= <i64>load<u16>(row);
      if (gas < 0 || height < <u32>load<u16>(row, 2) || height > <u32>load<u16>(row, 4)) {
        status = fault(op, height, sp, gas);
        break;
      }
      pc++;
      const top = sp - 32;
      switch (op) {
        case OP.STOP: status = RETURNED; break;
        case OP.ADD: add(top - 32, top, top - 32); sp = top; continue;
        case OP.MUL: multiply(top - 32, top, top - 32); sp = top; continue;
        case OP.SUB: subtract(top - 32, top, top - 32); sp = top; continue;
        case OP.DIV: divide(top - 32, top, top - 32); sp = top; continue;
        case OP.SDIV: divideSigned(top - 32, top, top - 32); sp = top; continue;
        case OP.MOD: remainder(top - 32, top, top - 32); sp = top; continue;
        case OP.SMOD: remainderSigned(top - 32, top, top - 32); sp = top; continue;
        case OP.ADDMOD: addModulo(top - 64, top, top - 32, top - 64); sp = top - 32; continue;
        case OP.MULMOD: multiplyModulo(top - 64, top, top - 32, top - 64); sp = top - 32; continue;
        case OP.EXP: {
          if (gas < pauseAt) { status = PAUSED; break; }
          const left = powerAt(top, gas);
          if (left < 0) { status = endOfOperation(left); break; }
          gas = left;
          sp = top;
          continue;
        }
        case OP.SIGNEXTEND: signExtend(top - 32, top); sp = top; continue;
        case OP.LT: set64(top - 32, u64(less(top, top - 32))); sp = top; continue;
        case OP.GT: set64(top - 32, u64(less(top - 32, top))); sp = top; continue;
        case OP.SLT: set64(top - 32, u64(lessSigned(top, top - 32))); sp = top; continue;
        case OP.SGT: set64(top - 32, u64(lessSigned(top - 32, top))); sp = top; continue;
        case OP.EQ: set64(top - 32, u64(equal(top, top - 32))); sp = top; continue;
        case OP.ISZERO: set64(top, u64(isZero(top))); continue;
        case OP.AND: {
          v128.store(top - 32, v128.and(v128.load(top), v128.load(top - 32)));
          v128.store(top - 16, v128.and(v128.load(top, 16), v128.load(top - 16)));
          sp = top;
          continue;
        }
        case OP.OR: {
          v128.store(top - 32, v128.or(v128.load(top), v128.load(top - 32)));
          v128.store(top - 16, v128.or(v128.load(top, 16), v128.load(top - 16)));
          sp = top;
          continue;
        }
        case OP.XOR: {
          v128.store(top - 32, v128.xor(v128.load(top), v128.load(top - 32)));
          v128.store(top - 16, v128.xor(v128.load(top, 16), v128.load(top - 16)));
          sp = top;
          continue;
        }
        case OP.NOT: {
          v128.store(top, v128.not(v128.load(top)));
          v128.store(top, v128.not(v128.load(top, 16)), 16);
          continue;
        }
        case OP.BYTE: {
          const at = toSize(top);
          set64(top - 32, at < 32 ? <u64>load<u8>(top - 1 - <usize>at) : 0);
          sp = top;
          continue;
        }
        case OP.SHL: shiftLeft(top - 32, top, top - 32); sp = top; continue;
        case OP.SHR: shiftRight(top - 32, top, top - 32, 0); sp = top; continue;
        case OP.SAR: shiftRight(top - 32, top, top - 32, isNegative(top - 32) ? u64.MAX_VALUE : 0); sp = top; continue;
        case OP.CLZ: set64(top, leadingZeros(top)); continue;
        case OP.KECCAK256: {
          if (gas < pauseAt) { status = PAUSED; break; }
          const left = hashAt(top, gas);
          if (left < 0) { status = endOfOperation(left); break; }
          gas = left;
          size = load<u32>(frame, MEMORY_SIZE);
          sp = top;
          continue;
        }
        case OP.ADDRESS: copy(sp, <usize>load<u32>(frame, SELF) + ADDRESS); sp += 32; continue;
        case OP.BALANCE: {
          const left = balanceAt(top, gas);
          if (left < 0) { status = endOfOperation(left); break; }
          gas = left;
          continue;
        }
        case OP.ORIGIN: copy(sp, ORIGIN); sp += 32; continue;
        case OP.CALLER: copy(sp, frame + CALLER); sp += 32; continue;
        case OP.CALLVALUE: copy(sp, frame + CALL_VALUE); sp += 32; continue;
        case OP.CALLDATALOAD: loadInput(top, load<u32>(frame, INPUT), load<u32>(frame, INPUT_SIZE), toSize(top)); continue;
        case OP.CALLDATASIZE: set64(sp, load<u32>(frame, INPUT_SIZE)); sp += 32; continue;
        case OP.CODESIZE: set64(sp, codeSize); sp += 32; continue;
        case OP.GASPRICE: copy(sp, GAS_PRICE); sp += 32; continue;
        case OP.EXTCODESIZE: {
          const left = codeSizeAt(top, gas);
          if (left < 0) { status = endOfOperation(left); break; }
          gas = left;
          continue;
        }
        case OP.RETURNDATASIZE: set64(sp, load<u32>(frame, RETURN_SIZE)); sp += 32; continue;
        case OP.EXTCODEHASH: {
          const left = codeHashAt(top, gas);
          if (left < 0) { status = endOfOperation(left); break; }
          gas = left;
          continue;
        }
        case OP.BLOCKHASH: {
          status = blockHash(top);
          if (status != GOES_ON) break;
          continue;
        }
        case OP.COINBASE: copy(sp, COINBASE); sp += 32; continue;
        case OP.TIMESTAMP: copy(sp, TIMESTAMP); sp += 32; continue;
        case OP.NUMBER: copy(sp, NUMBER); sp += 32; continue;
        case OP.PREVRANDAO: copy(sp, PREV_RANDAO); sp += 32; continue;
        case OP.GASLIMIT: copy(sp, GAS_LIMIT); sp += 32; continue;
        case OP.CHAINID: copy(sp, CHAIN_ID); sp += 32; continue;
        case OP.SELFBALANCE: copy(sp, <usize>load<u32>(frame, SELF) + BALANCE); sp += 32; continue;
        case OP.BASEFEE: copy(sp, BASE_FEE); sp += 32; continue;
        case OP.BLOBHASH: {
          const at = toSize(top);
          if (at < <u64>blobs) copy(top, BLOB_HASHES + (<usize>at << 5)); else clear(top);
          continue;
        }
        case OP.BLOBBASEFEE: copy(sp, BLOB_BASE_FEE); sp += 32; continue;
        case OP.POP: sp = top; continue;
        case OP.MLOAD: {
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
        case OP.MSTORE: {
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
        case OP.MSTORE8: {
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
        case OP.SLOAD: {
          const left = loadSlotAt(top, gas);
          if (left < 0) { status = endOfOperation(left); break; }
          gas = left;
          continue;
        }
        case OP.SSTORE: {
          const left = storeSlotAt(top, gas);
          if (left < 0) { status = endOfOperation(left); break; }
          gas = left;
          sp = top - 32;
          continue;
        }
        case OP.JUMP: {
          if (gas < pauseAt) { status = PAUSED; break; }
          const to = toSize(top);
          if (to >= codeSize || !isDestination(jumps, to)) { status = failFor(INVALID_JUMP); break; }
          pc = code + <usize>to;
          sp = top;
          if (STEPS) continue;
          // The JUMPDEST is paid and skipped here.
          pc++;
          gas--;
          if (gas < 0) { status = failFor(OUT_OF_GAS); break; }
          continue;
        }
        case OP.JUMPI: {
          if (gas < pauseAt) { status = PAUSED; break; }
          sp = top - 32;
          if (isZero(sp)) continue;
          const to = toSize(top);
          if (to >= codeSize || !isDestination(jumps, to)) { status = failFor(INVALID_JUMP); break; }
          pc = code + <usize>to;
          if (STEPS) continue;
          pc++;
          gas--;
          if (gas < 0) { status = failFor(OUT_OF_GAS); break; }
          continue;
        }
        case OP.PC: set64(sp, pc - code - 1); sp += 32; continue;
        case OP.MSIZE: set64(sp, size); sp += 32; continue;
        case OP.GAS: set64(sp, gas); sp += 32; continue;
        case OP.JUMPDEST: continue;
        case OP.TLOAD: loadTransient(top, load<u32>(frame, SELF), top); continue;
        case OP.TSTORE: {
          const left = storeTransientAt(top, gas);
          if (left < 0) { status = endOfOperation(left); break; }
          gas = left;
          sp = top - 32;
          continue;
        }
        case OP.PUSH0: clear(sp); sp += 32; continue;
        case OP.PUSH1: {
          // Fused with a following ADD, where that can be paid and has its other operand.
          if (!STEPS && load<u8>(pc, 1) == OP.ADD && height >= 32 && gas >= 3) {
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
        case OP.PUSH2: {
          const to = <u64>bswap<u16>(load<u16>(pc)), next = load<u8>(pc, 2);
          // Fused with a following jump where all checks pass; otherwise both run separately.
          if (!STEPS && (next == OP.JUMPI || next == OP.JUMP) && gas >= 11 && gas - 11 >= pauseAt && to < codeSize && isDestination(jumps, to)) {
            if (next == OP.JUMP) {
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
        case OP.PUSH3: set64(sp, (<u64>load<u8>(pc) << 16) | <u64>bswap<u16>(load<u16>(pc, 1))); pc += 3; sp += 32; continue;
        case OP.PUSH4: set64(sp, <u64>bswap<u32>(load<u32>(pc))); pc += 4; sp += 32; continue;
        case OP.PUSH5: pushBytes(sp, pc, 5); pc += 5; sp += 32; continue;
        case OP.PUSH6: pushBytes(sp, pc, 6); pc += 6; sp += 32; continue;
        case OP.PUSH7: pushBytes(sp, pc, 7); pc += 7; sp += 32; continue;
        case OP.PUSH8: pushBytes(sp, pc, 8); pc += 8; sp += 32; continue;
        case OP.PUSH9: pushBytes(sp, pc, 9); pc += 9; sp += 32; continue;
        case OP.PUSH10: pushBytes(sp, pc, 10); pc += 10; sp += 32; continue;
        case OP.PUSH11: pushBytes(sp, pc, 11); pc += 11; sp += 32; continue;
        case OP.PUSH12: pushBytes(sp, pc, 12); pc += 12; sp += 32; continue;
        case OP.PUSH13: pushBytes(sp, pc, 13); pc += 13; sp += 32; continue;
        case OP.PUSH14: pushBytes(sp, pc, 14); pc += 14; sp += 32; continue;
        case OP.PUSH15: pushBytes(sp, pc, 15); pc += 15; sp += 32; continue;
        case OP.PUSH16: pushBytes(sp, pc, 16); pc += 16; sp += 32; continue;
        case OP.PUSH17: pushBytes(sp, pc, 17); pc += 17; sp += 32; continue;
        case OP.PUSH18: pushBytes(sp, pc, 18); pc += 18; sp += 32; continue;
        case OP.PUSH19: pushBytes(sp, pc, 19); pc += 19; sp += 32; continue;
        case OP.PUSH20: pushBytes(sp, pc, 20); pc += 20; sp += 32; continue;
        case OP.PUSH21: pushBytes(sp, pc, 21); pc += 21; sp += 32; continue;
        case OP.PUSH22: pushBytes(sp, pc, 22); pc += 22; sp += 32; continue;
        case OP.PUSH23: pushBytes(sp, pc, 23); pc += 23; sp += 32; continue;
        case OP.PUSH24: pushBytes(sp, pc, 24); pc += 24; sp += 32; continue;
        case OP.PUSH25: pushBytes(sp, pc, 25); pc += 25; sp += 32; continue;
        case OP.PUSH26: pushBytes(sp, pc, 26); pc += 26; sp += 32; continue;
        case OP.PUSH27: pushBytes(sp, pc, 27); pc += 27; sp += 32; continue;
        case OP.PUSH28: pushBytes(sp, pc, 28); pc += 28; sp += 32; continue;
        case OP.PUSH29: pushBytes(sp, pc, 29); pc += 29; sp += 32; continue;
        case OP.PUSH30: pushBytes(sp, pc, 30); pc += 30; sp += 32; continue;
        case OP.PUSH31: pushBytes(sp, pc, 31); pc += 31; sp += 32; continue;
        case OP.PUSH32: pushBytes(sp, pc, 32); pc += 32; sp += 32; continue;
        case OP.DUP1: copy(sp, sp - 32); sp += 32; continue;
        case OP.DUP2: copy(sp, sp - 64); sp += 32; continue;
        case OP.DUP3: copy(sp, sp - 96); sp += 32; continue;
        case OP.DUP4: copy(sp, sp - 128); sp += 32; continue;
        case OP.DUP5: copy(sp, sp - 160); sp += 32; continue;
        case OP.DUP6: copy(sp, sp - 192); sp += 32; continue;
        case OP.DUP7: copy(sp, sp - 224); sp += 32; continue;
        case OP.DUP8: copy(sp, sp - 256); sp += 32; continue;
        case OP.DUP9: copy(sp, sp - 288); sp += 32; continue;
        case OP.DUP10: copy(sp, sp - 320); sp += 32; continue;
        case OP.DUP11: copy(sp, sp - 352); sp += 32; continue;
        case OP.DUP12: copy(sp, sp - 384); sp += 32; continue;
        case OP.DUP13: copy(sp, sp - 416); sp += 32; continue;
        case OP.DUP14: copy(sp, sp - 448); sp += 32; continue;
        case OP.DUP15: copy(sp, sp - 480); sp += 32; continue;
        case OP.DUP16: copy(sp, sp - 512); sp += 32; continue;
        case OP.SWAP1: swap(top, top - 32); continue;
        case OP.SWAP2: swap(top, top - 64); continue;
        case OP.SWAP3: swap(top, top - 96); continue;
        case OP.SWAP4: swap(top, top - 128); continue;
        case OP.SWAP5: swap(top, top - 160); continue;
        case OP.SWAP6: swap(top, top - 192); continue;
        case OP.SWAP7: swap(top, top - 224); continue;
        case OP.SWAP8: swap(top, top - 256); continue;
        case OP.SWAP9: swap(top, top - 288); continue;
        case OP.SWAP10: swap(top, top - 320); continue;
        case OP.SWAP11: swap(top, top - 352); continue;
        case OP.SWAP12: swap(top, top - 384); continue;
        case OP.SWAP13: swap(top, top - 416); continue;
        case OP.SWAP14: swap(top, top - 448); continue;
        case OP.SWAP15: swap(top, top - 480); continue;
        case OP.SWAP16: swap(top, top - 512); continue;
        case OP.RETURN:
        case OP.REVERT: {
          const offset = toSize(top), bytes = toSize(top - 32), end = endOf(offset, bytes);
          gas -= growthPrice(size, end);
          if (gas < 0) { status = failFor(OUT_OF_GAS); break; }
          if (!growMemory(frame, end)) { status = EXHAUSTED; break; }
          from = data + <usize>(bytes ? offset : 0);
          length = <usize>bytes;
          status = op == OP.RETURN ? RETURNED : REVERTED;
          break;
        }
        case OP.CALLDATACOPY: {
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
          if (STEPS) setStepGas(gas);
          status = rare(op);
          if (STEPS && status == FAILED) gas = stepGas;
          // SELFDESTRUCT has charged its price to the record.
          if (status == RETURNED) gas = load<i64>(frame, GAS);
          break;
        }
      }
      break;
    }
    if (status == GOES_ON) continue;
    if (status == RETURNED || status == REVERTED || status == FAILED) {
      if (STEPS) {
        if (status == FAILED) failStep(before, gas, reason); else settleStep(gas);
      }
      status = endFrame(status, gas, from, length);
      if (status != GOES_ON) return status;
      continue;
    }
    if (status == NEEDS_PRECOMPILE) return status;
    // To be repeated.
    if (STEPS) repeatStep();
    store<u32>(frame, <u32>(pc - 1), PC);
    store<u32>(frame, <u32>sp, SP);
    store<i64>(frame, before, GAS);
    return status;
  }
}
