/*
 * Spare gas: how much less gas a frame could have had for the same run, if its code does not read its gas. A frame's is the smallest of its
 * remaining gas at the end, the distance to the sentry of each SSTORE, and what each inner frame allows through the rule of 63/64.
 */
import { frame } from "./frames";
import { FAILED, GAS, PASSED, SPARE } from "./layout";

/** False when a frame consumed all its gas in a failure, or when the fork passes gas by another rule. */
export let isSpareKnown = false;
export let spareGas: i64 = 0;
export function beginSpare(known: bool): void { isSpareKnown = known; }

/** Lowers the spare gas of the current frame. */
@inline export function limitSpare(gas: i64): void {
  if (gas < load<i64>(frame, SPARE)) store<i64>(frame, gas, SPARE);
}

/** Least gas of a caller that passes on `needed`, all but a 64th of it at most (EIP-150). */
@inline function leastBefore(needed: i64): i64 { return needed > 0 ? needed + (needed - 1) / 63 : 0; }

/** Takes the spare gas of a frame that ended with `left` gas into its caller's, whose gas has not been returned yet; 0: no caller. */
export function endSpare(child: usize, parent: usize, result: i32, left: i64): void {
  if (result == FAILED) isSpareKnown = false;
  const spare = min(load<i64>(child, SPARE), left);
  if (parent == 0) {
    spareGas = spare;
    return;
  }
  const passed = load<i64>(child, PASSED), before = load<i64>(parent, GAS) + passed;
  const allowed = before - leastBefore(passed - spare);
  if (allowed < load<i64>(parent, SPARE)) store<i64>(parent, allowed, SPARE);
}
