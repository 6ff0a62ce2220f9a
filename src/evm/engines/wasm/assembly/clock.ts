/* Gas clock of the message, derived from the current frame's gas: the next pause, and the bound of the message. */
export let pauseAt: i64 = 0;
/** Gas that the message may use after the pause. */
let afterPause: i64 = 0;

/** Starts a message with this gas and this bound on its use. */
export function beginClock(gas: i64, bound: i64): void {
  pauseAt = gas;
  afterPause = bound;
}
/** Gas that the message may still use, given the current frame's gas; below zero: the bound is exceeded. */
export function boundLeft(gas: i64): i64 { return afterPause + (gas - pauseAt); }
/** True at a pause set by the bound: the next opcode costs more than the message may still use. Else it would be paid. */
export function isBoundReached(): bool { return afterPause == 0; }
/** Sets the next pause after `slice` gas, or at the message's bound if that is nearer. */
export function allow(gas: i64, slice: i64): void {
  const left = boundLeft(gas), granted = min<i64>(slice, max<i64>(left, 0));
  pauseAt = gas - granted;
  afterPause = left - granted;
}
/** Keeps the remaining slice when the current frame changes. */
export function moveClock(from: i64, to: i64): void { pauseAt += to - from; }
