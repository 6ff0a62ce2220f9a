/* Call frames, stacked at the end of memory: record, stack of 1,024 words, memory of the code, which grows since nothing follows. */
import { align, codesEnd, codesStart, exhaust, framesStart, reserve } from "./memory";
import { clearWords } from "./ranges";
import { copy } from "./word";
import * as OP from "./opcodes";
import { BASE, DEPTH, FRAME_CODE, FRAME_CODE_SIZE, FRAME_JUMPS, MEMORY, MEMORY_SIZE, PARENT, PC, RECORD_BYTES, SP, SPARE } from "./layout";

const STACK_BYTES: usize = 1024 * 32;

/** Stop opcodes after every code, where it ends; push data may extend past its end. */
export const CODE_TAIL: usize = 64;

/** Current frame; 0: none. */
export let frame: usize = 0;
export function setFrame(at: usize): void { frame = at; }

/** First free byte above the current frame. */
export function above(): usize {
  return frame == 0 ? framesStart : align(<usize>load<u32>(frame, MEMORY) + <usize>load<u32>(frame, MEMORY_SIZE));
}

/** Creates a frame at `at`, which is not the current one yet; 0 when memory is full. */
export function openFrame(at: usize): usize {
  if (!reserve(at, RECORD_BYTES + STACK_BYTES + 64)) {
    exhaust();
    return 0;
  }
  clearWords(at, RECORD_BYTES);
  const base = at + RECORD_BYTES;
  store<u32>(at, <u32>frame, PARENT);
  store<u32>(at, <u32>base, BASE);
  store<u32>(at, <u32>base, SP);
  store<u32>(at, <u32>(base + STACK_BYTES), MEMORY);
  store<u32>(at, frame == 0 ? 0 : load<u32>(frame, DEPTH) + 1, DEPTH);
  store<i64>(at, i64.MAX_VALUE, SPARE);
  return at;
}

export function setCode(at: usize, code: usize, size: usize, jumps: usize): void {
  store<u32>(at, <u32>code, PC);
  store<u32>(at, <u32>code, FRAME_CODE);
  store<u32>(at, <u32>size, FRAME_CODE_SIZE);
  store<u32>(at, <u32>jumps, FRAME_JUMPS);
}

/** Grows a frame's memory to `end`; its gas is paid. */
export function growMemory(at: usize, end: u64): bool {
  const have = <usize>load<u32>(at, MEMORY_SIZE);
  if (end <= <u64>have) return true;
  const size = <usize>((end + 31) & ~31);
  const start = <usize>load<u32>(at, MEMORY);
  if (!reserve(start, <u64>size + 64)) {
    exhaust();
    return false;
  }
  clearWords(start + have, size - have);
  store<u32>(at, <u32>size, MEMORY_SIZE);
  return true;
}

/** Pushes a word on a frame's stack. */
export function push(at: usize, word: usize): void {
  const sp = <usize>load<u32>(at, SP);
  copy(sp, word);
  store<u32>(at, <u32>(sp + 32), SP);
}

/** Bytes of a code at once: by each start, where the last instruction of the 16 ends, itself from 16 on; which bytes instructions start at. */
const ENDS: usize = memory.data<u8>([
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
]);
const STARTS: usize = memory.data(96, 16);

/**
 * Marks the jump destinations of a code, one bit per byte, of 16 at once: JUMPDEST outside push data. Stop opcodes follow the code. No byte
 * is branched on, so that every code takes the same time: for each byte of 16 as the first, what follows it within one instruction is
 * doubled to two, four, eight and sixteen.
 */
export function analyse(code: usize, size: usize, jumps: usize): void {
  const lanes = i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), one = i8x16.splat(1);
  let start: usize = 0;
  for (let i: usize = 0; i < size; i += 16, jumps += 2) {
    const ops = v128.load(code + i);
    const isPush = i8x16.eq(v128.and(ops, i8x16.splat(<i8>0xe0)), i8x16.splat(<i8>OP.PUSH1));
    let next = i8x16.add(i8x16.add(lanes, one), v128.and(isPush, i8x16.sub(ops, i8x16.splat(<i8>OP.PUSH0))));
    let low = i8x16(1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0), high = i8x16(0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, -128);
    for (let round = 0; round < 4; round++) {
      low = v128.or(low, i8x16.swizzle(low, next));
      high = v128.or(high, i8x16.swizzle(high, next));
      next = i8x16.max_u(next, i8x16.swizzle(next, next));
    }
    v128.store(ENDS, next);
    v128.store(STARTS, low);
    v128.store(STARTS, high, 48);
    const starts = <i32>load<u8>(STARTS + start) | <i32>load<u8>(STARTS + start, 48) << 8;
    store<u16>(jumps, <u16>(starts & i8x16.bitmask(i8x16.eq(ops, i8x16.splat(<i8>OP.JUMPDEST)))));
    start = <usize>load<u8>(ENDS + start) - 16;
  }
}
