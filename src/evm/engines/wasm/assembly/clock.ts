/* Gas of the whole message, told from the running frame's gas without a counter of its own: the next pause, and the bound of the message. */
export let pauseAt: i64 = 0;
/** Gas that the message may use after the pause. */
let afterPause: i64 = 0;

/** The message begins with so much gas, and may use so much of it. */
export function beginClock(gas: i64, bound: i64): void {
  pauseAt = gas;
  afterPause = bound;
}
/** Gas that the message may still use, where the running frame has so much; below zero: it has used more. */
export function boundLeft(gas: i64): i64 { return afterPause + (gas - pauseAt); }
/** The next pause comes after so much gas, or as much as the message may use. */
export function allow(gas: i64, slice: i64): void {
  const left = boundLeft(gas), granted = min<i64>(slice, max<i64>(left, 0));
  pauseAt = gas - granted;
  afterPause = left - granted;
}
/** The running frame changes: what was left of the slice is left. */
export function moveClock(from: i64, to: i64): void { pauseAt += to - from; }
