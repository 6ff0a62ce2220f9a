/* Next pause of the interpreter: a level of the running frame's gas, so that work is bounded by executed gas without a counter of its own. */
export let pauseAt: i64 = 0;

/** So much gas may be used from here on. */
export function allow(gas: i64, slice: i64): void { pauseAt = gas - slice; }
/** The running frame changes: what was left of the slice is left. */
export function moveClock(from: i64, to: i64): void { pauseAt += to - from; }
