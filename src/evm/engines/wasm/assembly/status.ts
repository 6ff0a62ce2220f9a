/* Why the last frame failed, and what the host is to provide. */
import { FAILED } from "./layout";

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
