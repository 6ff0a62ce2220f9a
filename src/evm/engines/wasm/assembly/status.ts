/*
 * Results of `run` for the host, ends of operations, and reasons of failures. engines/wasm/protocol.ts repeats the numbers.
 */

// Results of `run`.
export const DONE: i32 = 0;
export const NEEDS_ACCOUNT: i32 = 1;
export const NEEDS_SLOT: i32 = 2;
export const NEEDS_CODE: i32 = 3;
export const NEEDS_BLOCK_HASH: i32 = 4;
export const NEEDS_PRECOMPILE: i32 = 5;
export const PAUSED: i32 = 6;
/** A region was full: the message had more gas than the regions are made for. */
export const EXHAUSTED: i32 = 7;
/** Not supported by this engine: run the message elsewhere. */
export const UNUSUAL: i32 = 8;

// Ends of an operation; after the results above the operation is repeated.
export const GOES_ON: i32 = 16;
export const RETURNED: i32 = 17;
export const REVERTED: i32 = 18;
export const FAILED: i32 = 19;

// Reasons of a failure.
export const OUT_OF_GAS: i32 = 1;
export const STACK_UNDERFLOW: i32 = 2;
export const STACK_OVERFLOW: i32 = 3;
export const INVALID_JUMP: i32 = 4;
export const INVALID_OPCODE: i32 = 5;
export const STATIC_STATE_CHANGE: i32 = 6;
export const CREATE_COLLISION: i32 = 7;
export const CODE_TOO_LARGE: i32 = 8;
export const INVALID_CODE: i32 = 9;
export const INIT_CODE_TOO_LARGE: i32 = 10;

/** Reason of the last failed frame. */
export let reason: i32 = 0;
export function failFor(why: i32): i32 {
  reason = why;
  return FAILED;
}

/** Account or slot that is needed, or the number of the block. */
export let needed: u64 = 0;
export function needs(status: i32, what: u64): i32 {
  needed = what;
  return status;
}
