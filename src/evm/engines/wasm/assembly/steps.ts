/*
 * Hooks of the step build (`asc --use STEPS=1`), by which tracers see opcodes, frames, logs and self-destructs. The other build has none of
 * this. A watched opcode is pending from its hook until its price is known: at the next opcode of its frame, or where it opens, ends or
 * leaves one.
 */
import { refund } from "./refund";
import { failFor } from "./status";
import { frame } from "./frames";
import { GAS, OUT_OF_GAS, PC, SP } from "./layout";

@external("host", "step") declare function hostStep(frame: usize, op: u32, refund: f64): bool;
@external("host", "stepped") declare function hostStepped(gas: f64, refund: f64): void;
@external("host", "failed") declare function hostFailed(frame: usize, op: u32, height: u32, before: f64, after: f64, refund: f64): void;
@external("host", "entered") declare function hostEntered(op: u32, from: usize, to: usize, input: usize, size: usize, gas: f64, value: usize): void;
@external("host", "exited") declare function hostExited(result: i32, left: f64, data: usize, size: usize): void;
@external("host", "logged") declare function hostLogged(at: usize): void;
@external("host", "destructed") declare function hostDestructed(from: usize, to: usize, value: usize): void;

let isPending = false;
/** The opcode was reported already: it is run again after the host has served it. */
let isRepeated = false;
/** Gas of the frame after the price of its opcode; below zero where that cannot be paid. */
export let stepGas: i64 = 0;
let stepOp: u32 = 0;
let stepHeight: u32 = 0;

export function setStepGas(gas: i64): void { stepGas = gas; }
export function beginSteps(): void {
  isPending = false;
  isRepeated = false;
}
export function repeatStep(): void { isRepeated = true; }
export function forgetRepeat(): void { isRepeated = false; }

/** Failure of an opcode that leaves the frame with less than no gas. */
@inline export function noGas(gas: i64): i32 {
  if (STEPS) stepGas = gas;
  return failFor(OUT_OF_GAS);
}

/** Reports the price of the pending opcode. */
export function settleStep(gas: i64): void {
  if (!isPending) return;
  isPending = false;
  hostStepped(<f64>gas, <f64>refund);
}
/** Before an opcode; returns true where the host has to wait before it runs. */
export function beginStep(op: u32, height: u32, isWatched: bool, pc: usize, sp: usize, gas: i64): bool {
  if (isRepeated) {
    isRepeated = false;
    return false;
  }
  settleStep(gas);
  stepOp = op;
  stepHeight = height >> 5;
  if (!isWatched) return false;
  store<u32>(frame, <u32>pc, PC);
  store<u32>(frame, <u32>sp, SP);
  store<i64>(frame, gas, GAS);
  if (hostStep(frame, op, <f64>refund)) return true;
  isPending = true;
  return false;
}
/** The opcode fails its frame. */
export function failStep(before: i64, gas: i64, reason: i32): void {
  isPending = false;
  const after = reason == OUT_OF_GAS && gas >= 0 ? stepGas : gas;
  hostFailed(frame, stepOp, stepHeight, <f64>before, <f64>after, <f64>refund);
}
export function enteredStep(op: u32, from: usize, to: usize, input: usize, size: usize, gas: i64, value: usize): void {
  settleStep(stepGas);
  hostEntered(op, from, to, input, size, <f64>gas, value);
}
export function exitedStep(result: i32, left: i64, data: usize, size: usize): void { hostExited(result, <f64>left, data, size); }
export function loggedStep(at: usize): void {
  settleStep(stepGas);
  hostLogged(at);
}
export function destructedStep(from: usize, to: usize, value: usize, gas: i64): void {
  settleStep(gas);
  hostDestructed(from, to, value);
}
