/*
 * Logs of the message, concatenated: account u32, topics u32, size u32, pad; topics as big-endian bytes; data. Internal transfers stand
 * between them: sender u32, kind u32, size u32, recipient u32; the value as big-endian bytes.
 */
import { align, exhaust, logsEnd, logsStart } from "./memory";
import { swapBytes } from "./word";
import { LOG_HEAD } from "./layout";

export let logsAt: usize = 0;
export function beginLogs(): void { logsAt = logsStart; }
/** Drops the logs of a frame that failed. */
export function dropLogs(mark: usize): void { logsAt = mark; }

/** Topics are on the stack below `top`, the first one topmost. */
export function addLog(account: usize, topics: u32, top: usize, data: usize, size: usize): void {
  const end = <u64>logsAt + LOG_HEAD + (<u64>topics << 5) + size + 64;
  if (end > <u64>logsEnd) return exhaust();
  store<u32>(logsAt, <u32>account);
  store<u32>(logsAt, topics, 4);
  store<u32>(logsAt, <u32>size, 8);
  let at = logsAt + LOG_HEAD;
  for (let i: usize = 0; i < topics; i++, at += 32) swapBytes(at, top - (i << 5));
  memory.copy(at, data, size);
  logsAt = align(at + size);
}

/** Records wei that code moved, or an account that it created. A frame that fails drops it with its logs. */
export function addTransfer(kind: u32, from: usize, to: usize, value: usize): void {
  if (<u64>logsAt + LOG_HEAD + 32 + 64 > <u64>logsEnd) return exhaust();
  store<u32>(logsAt, <u32>from);
  store<u32>(logsAt, kind, 4);
  store<u32>(logsAt, 32, 8);
  store<u32>(logsAt, <u32>to, 12);
  swapBytes(logsAt + LOG_HEAD, value);
  logsAt = align(logsAt + LOG_HEAD + 32);
}
