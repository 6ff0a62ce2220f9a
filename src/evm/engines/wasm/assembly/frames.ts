/*
 * Call frames, stacked at the end of memory: record, stack of 1,024 words, memory of the code. A frame's memory can grow because
 * nothing follows the newest frame.
 */
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

/** Marks the jump destinations of a code, one bit per byte: JUMPDEST outside push data. */
export function analyse(code: usize, size: usize, jumps: usize): void {
  memory.fill(jumps, 0, (size >> 3) + 1);
  for (let i: usize = 0; i < size; i++) {
    const op = load<u8>(code + i);
    if (op == OP.JUMPDEST) store<u8>(jumps + (i >> 3), load<u8>(jumps + (i >> 3)) | (1 << (<u8>i & 7)));
    else if (op >= OP.PUSH1 && op <= OP.PUSH32) i += op - <u8>OP.PUSH0;
  }
}
