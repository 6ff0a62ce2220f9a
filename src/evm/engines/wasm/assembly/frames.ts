/*
 * Call frames, stacked at the end of memory: record, stack of 1,024 words, memory of the code. A frame's memory can grow because
 * nothing follows the newest frame.
 */
import { align, codesEnd, codesStart, exhaust, framesStart, reserve } from "./memory";
import { clearWords } from "./ranges";
import { copy } from "./word";

// Record. Registers of the interpreter while the frame is not running:
export const PC: usize = 0;
export const SP: usize = 4;
export const GAS: usize = 8;
export const MEMORY_SIZE: usize = 16;
// Constant during the frame:
export const PARENT: usize = 20;
export const BASE: usize = 24;
export const MEMORY: usize = 28;
export const FRAME_CODE: usize = 32;
export const FRAME_CODE_SIZE: usize = 36;
export const FRAME_JUMPS: usize = 40;
/** Account entry whose storage and address the code uses. */
export const SELF: usize = 44;
export const INPUT: usize = 48;
export const INPUT_SIZE: usize = 52;
/** Range of the caller's memory that takes the output. */
export const OUTPUT: usize = 56;
export const OUTPUT_SIZE: usize = 60;
export const IS_STATIC: usize = 64;
export const IS_CREATION: usize = 68;
export const DEPTH: usize = 72;
/** Marks of undo log and logs, and the refund counter at the start of the frame. */
export const UNDO_MARK: usize = 76;
export const LOGS_MARK: usize = 80;
export const REFUND_MARK: usize = 88;
/** Size of the return data of its last call: the whole of the return region, or nothing. */
export const RETURN_SIZE: usize = 96;
/** Gas by which the frame's could be less (spare.ts). */
export const SPARE: usize = 104;
export const CALLER: usize = 112;
export const CALL_VALUE: usize = 144;
/** Gas that the caller passed, without the stipend. */
export const PASSED: usize = 176;
const RECORD_BYTES: usize = 192;
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
    if (op == 0x5b) store<u8>(jumps + (i >> 3), load<u8>(jumps + (i >> 3)) | (1 << (<u8>i & 7)));
    else if (op >= 0x60 && op <= 0x7f) i += op - 0x5f;
  }
}
