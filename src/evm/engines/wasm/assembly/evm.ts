/*
 * Module of engines/wasm/machine.ts: the functions that the host calls before, while and after a message runs. Its files `layout`, `opcodes`
 * and `forks` are made at the build, of numbers that TypeScript has (scripts/wasm-names.ts).
 */
import { copy, equal, swapBytes } from "./word";
import { accounts, bytesTouched, framesStart, layOut, slots, refresh, reserve, align, exhausted, logsStart, returned } from "./memory";
import { accountAt, accountIndexMask, accountsAt, mustDrain, beginAccounts, usedAccount, usedAccounts, setSeed } from "./accounts";
import { beginSlots, isTransient, keyOf, loadedSlot as slotWith, provide, setSlotSeed, slotIndexMask, slotOf, slotsAt, slotsStay, usedSlot, usedSlots } from "./slots";
import { beginUndo, setFrameMark, undoAt } from "./undo";
import { beginLogs, logsAt } from "./logs";
import { beginClock, boundLeft, isBoundReached } from "./clock";
import { beginSpare, isSpareKnown, spareGas } from "./spare";
import { BLOOM, bloomOfLogs, encodeLogs } from "./receipt-logs";
import { refund, setRefund } from "./refund";
import { beginCodes, codeBytes, codeRoom, dropCodes, EMPTY_HASH, isDelegation, keepCode, lacksCode, pageOf, pagesUsed, pageTaken, setPageSeed, useCode } from "./codes";
import { clearOpcodes, fork, setFork, setOpcode, watchOpcode } from "./prices";
import { BLOB_HASHES, COINBASE, EXCHANGE, ORIGIN, setBlobs, WORDS } from "./environment";
import { CODE_TAIL, frame, openFrame, setCode, setFrame } from "./frames";
import { delegateOf, mark, overflows, transfer } from "./calls";
import { precompile } from "./precompiles";
import { addressByNonce, openCreation, setInitCodeLimit } from "./creations";
import { endFrame, gasLeft, outcome, outputSize, returnedMost, setCodeLimit } from "./ends";
import { forgetBlockHashes, provideBlockHash } from "./block-hashes";
import { run } from "./interpreter";
import { failFor, needed, reason } from "./status";
import { beginSteps, enteredStep } from "./steps";
import * as OP from "./opcodes";
import { ADDRESS, CALLER, CALL_VALUE, CODE, CODE_SIZE, EXHAUSTED, GAS, GOES_ON, INPUT, INPUT_SIZE, JUMPS, ORIGINAL, OUT_OF_GAS, PRECOMPILE, REFUSED, RETURNED, SELF, SLOT_WARM, VALUE, VALUE_OVERFLOW, WARM } from "./layout";
import { PRAGUE, TANGERINE_WHISTLE } from "./forks";

export { BLOB_HASHES, BLOOM, EMPTY_HASH, EXCHANGE, usedAccount, usedSlot, WORDS };
export { beginClock, bloomOfLogs, encodeLogs, layOut, run, setOpcode, watchOpcode, clearOpcodes, setBlobs, codeRoom, keepCode, lacksCode, pageOf, useCode, dropCodes };

const VALUE_WORD: usize = memory.data(32, 16);

export function returnedAt(): usize { return returned; }
export function logsStartAt(): usize { return logsStart; }
export function logsEndAt(): usize { return logsAt; }
/** Address at which `encodeLogs` writes. */
export function encodedLogsAt(): usize { return framesStart; }
export function neededEntry(): u32 { return <u32>needed; }
export function neededNumber(): u64 { return needed; }
export function failReason(): i32 { return reason; }
export function outcomeOf(): i32 { return outcome; }
export function gasLeftOf(): i64 { return gasLeft; }
export function outputSizeOf(): u32 { return outputSize; }
export function refundOf(): i64 { return refund; }
/** Spare gas of the message (spare.ts); below zero: not known. */
export function spareGasOf(): i64 { return isSpareKnown ? spareGas : -1; }
export function isExhausted(): bool { return exhausted; }
export function slotsMayStay(): bool { return slotsStay; }
export function codePagesUsed(): u32 { return pagesUsed; }
/** Page of codes that the last loaded one took from others, or the first; below zero: none. */
export function codePageTaken(): i32 { return pageTaken; }
export function bytesUsed(): usize {
  const indexes = (<usize>accountIndexMask + slotIndexMask + 2) << 2;
  return bytesTouched(accountsAt - accounts, slotsAt - slots, indexes, undoAt, logsAt, codeBytes(), returnedMost);
}
/** Remaining gas of the current frame, and input of a precompile to run. */
export function frameGas(): i64 { return frame ? load<i64>(frame, GAS) : 0; }
/** Gas that the message may still use; below zero: its bound is exceeded. */
export function gasBoundLeft(): i64 { return boundLeft(frameGas()); }
/** True at a pause after which the message would exceed its bound. */
export function gasBoundReached(): bool { return gasBoundLeft() < 0 || isBoundReached(); }
export function inputAt(): usize { return load<u32>(frame, INPUT); }
export function inputSize(): u32 { return load<u32>(frame, INPUT_SIZE); }

/** Resets all state of the previous message except codes, and slots if they stay: with its changes when `committed`. */
export function begin(place: i32, seed: u64, keepsSlots: bool, committed: bool, codeLimit: u32, initCodeLimit: u32): void {
  forgetBlockHashes();
  setFork(place);
  setCodeLimit(codeLimit);
  setInitCodeLimit(initCodeLimit);
  if (STEPS) beginSteps();
  beginSpare(place >= TANGERINE_WHISTLE);
  beginSlots(beginAccounts(keepsSlots), committed);
  setSeed(seed);
  setSlotSeed(seed * 0x9e3779b97f4a7c15 + 1);
  setPageSeed(seed);
  beginCodes();
  beginUndo();
  beginLogs();
  setRefund(0);
  setFrame(0);
  setBlobs(0);
  refresh();
}

/** Creates the sender's entry from the address in the exchange. It is the origin too, and warm with the coinbase by the fork's rules. */
export function sender(warms: bool, warmsCoinbase: bool): usize {
  const entry = account();
  copy(ORIGIN, entry + ADDRESS);
  if (warms) warm(entry);
  if (warmsCoinbase) warm(accountAt(COINBASE));
  return entry;
}
/** Index of the next account from one on that the host must write back; below zero: none. */
export function nextChanged(from: u32): i32 {
  for (let i = from; i < usedAccounts(); i++) if (mustDrain(usedAccount(i))) return i;
  return -1;
}
/** Index of the next changed slot from one on, with its key and word in the exchange; below zero: none. */
export function nextChange(from: u32): i32 {
  for (let i = from; i < usedSlots(); i++) if (showChange(usedSlot(i))) return i;
  return -1;
}

/** Returns the account of the address in the last 20 of the 32 bytes of the exchange. */
export function account(): usize {
  swapBytes(VALUE_WORD, EXCHANGE);
  return accountAt(VALUE_WORD);
}
export function warm(entry: usize): void { store<u32>(entry, 1, WARM); }
/** Makes the slot warm whose key is in the exchange. */
export function warmKey(entry: usize): void {
  swapBytes(VALUE_WORD, EXCHANGE);
  store<u32>(slotOf(entry, VALUE_WORD), 1, SLOT_WARM);
}
/** Returns the address whose code runs in place of the account's; 0: its own. */
export function delegate(entry: usize): usize {
  return fork >= PRAGUE && load<u32>(entry, CODE_SIZE) && isDelegation(entry) ? delegateOf(entry) : 0;
}
/** Returns the account that the creator creates with its previous nonce. */
export function createdBy(creator: usize, nonce: u64): usize { return accountAt(addressByNonce(creator, nonce)); }

/** Returns the entry of the account's slot whose key is in the exchange, if its word is loaded; else 0. */
export function loadedSlot(entry: usize): usize {
  swapBytes(VALUE_WORD, EXCHANGE);
  return slotWith(entry, VALUE_WORD);
}
/** Writes a key as bytes to the exchange. */
export function showKey(slot: usize): void { swapBytes(EXCHANGE, keyOf(slot)); }
/** Sets the word in the exchange as the value of the slot. */
export function provideSlot(slot: usize): void {
  swapBytes(VALUE_WORD, EXCHANGE);
  provide(slot, VALUE_WORD);
}
/** Writes key and word of a changed slot to the exchange; returns false when it is unchanged or not stored. */
function showChange(slot: usize): bool {
  if (isTransient(slot) || equal(slot + VALUE, slot + ORIGINAL)) return false;
  swapBytes(EXCHANGE, keyOf(slot));
  swapBytes(EXCHANGE + 32, slot + VALUE);
  return true;
}
export function provideHash(): void {
  swapBytes(VALUE_WORD, EXCHANGE);
  provideBlockHash(VALUE_WORD);
}

/** Returns room for the message's input: the first bytes of the frames' region; 0 when there is none. */
export function inputRoom(size: u32): usize {
  return reserve(framesStart, <u64>size * 2 + 4096) ? framesStart : 0;
}

/** Starts a call; the value is in the exchange, the input in its room. All accounts must be loaded. */
export function startCall(from: usize, to: usize, runs: usize, gas: i64, size: u32): i32 {
  const at = openFrame(align(framesStart + size + CODE_TAIL));
  if (at == 0) return EXHAUSTED;
  mark(at);
  setFrameMark(undoAt);
  swapBytes(at + CALL_VALUE, EXCHANGE);
  copy(at + CALLER, from + ADDRESS);
  store<u32>(at, <u32>to, SELF);
  store<u32>(at, <u32>framesStart, INPUT);
  store<u32>(at, size, INPUT_SIZE);
  store<i64>(at, gas, GAS);
  if (STEPS) enteredStep(OP.CALL, from, to, framesStart, size, gas, at + CALL_VALUE);
  setFrame(at);
  if (overflows(from, to, at + CALL_VALUE)) {
    failFor(VALUE_OVERFLOW);
    return endFrame(REFUSED, gas, 0, 0);
  }
  transfer(from, to, at + CALL_VALUE);
  const number = load<u32>(to, PRECOMPILE);
  if (number) return precompile(number, gas, size);
  if (load<u32>(runs, CODE_SIZE) == 0) return endFrame(RETURNED, gas, 0, 0);
  setCode(at, load<u32>(runs, CODE), load<u32>(runs, CODE_SIZE), load<u32>(runs, JUMPS));
  return GOES_ON;
}

/** Starts a creation; the value is in the exchange, the init code in the input's room. */
export function startCreation(from: usize, created: usize, gas: i64, size: u32): i32 {
  swapBytes(VALUE_WORD, EXCHANGE);
  if (STEPS) enteredStep(OP.CREATE, from, created, framesStart, size, gas, VALUE_WORD);
  return openCreation(from, created, VALUE_WORD, framesStart, size, gas);
}

/** Continues after a precompile has run, with its output in the return region. */
export function precompiled(success: bool, left: i64, size: u32): i32 {
  return endFrame(success ? RETURNED : failFor(OUT_OF_GAS), left, returned, size);
}
