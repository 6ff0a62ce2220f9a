/* Bloom and RLP list of the message's logs, for its receipt (Yellow Paper 4.3.1), written at its end into the memory of frames. */
import { keccak256 } from "../../../../crypto/assembly/keccak";
import { logsAt } from "./logs";
import { align, framesStart, logsStart, reserve } from "./memory";
import { equal } from "./word";
import { ADDRESS_BYTES, CALL_TRANSFER, LOG_HEAD } from "./layout";

const BLOOM_SIZE: usize = 256;
export const BLOOM: usize = memory.data(256, 16);
const HASH: usize = memory.data(32, 16);
/** Encoded address and topic with their prefix. */
const ADDRESS_ITEM: usize = 21;
const TOPIC_ITEM: usize = 33;

/** Returns the next log from `at` on, past internal transfers; `logsAt` at the end. */
function logFrom(at: usize): usize {
  while (at < logsAt && load<u32>(at, 4) >= CALL_TRANSFER) at = align(at + LOG_HEAD + 32);
  return at;
}
function next(log: usize): usize {
  return logFrom(align(log + LOG_HEAD + (<usize>load<u32>(log, 4) << 5) + <usize>load<u32>(log, 8)));
}

/** Sets the three bits of an address or topic: each from two bytes of its hash. */
function addToBloom(at: usize, size: usize): void {
  keccak256(at, size, HASH);
  for (let i: usize = 0; i < 6; i += 2) {
    const bit = (<u32>load<u8>(HASH + i) << 8 | load<u8>(HASH + i + 1)) & 0x7ff;
    const to = BLOOM + BLOOM_SIZE - 1 - (bit >> 3);
    store<u8>(to, load<u8>(to) | <u8>1 << <u8>(bit & 7));
  }
}

/** Items that repeat those of the log before are not hashed again. */
export function bloomOfLogs(): void {
  memory.fill(BLOOM, 0, BLOOM_SIZE);
  let account: usize = 0, before: usize = 0, topicsBefore: u32 = 0;
  for (let log = logFrom(logsStart); log < logsAt; log = next(log)) {
    const topics = load<u32>(log, 4);
    if (<usize>load<u32>(log) != account) {
      account = <usize>load<u32>(log);
      addToBloom(account + ADDRESS_BYTES, 20);
    }
    for (let i: u32 = 0; i < topics; i++) {
      const topic = log + LOG_HEAD + (<usize>i << 5);
      if (i >= topicsBefore || !equal(topic, before + LOG_HEAD + (<usize>i << 5))) addToBloom(topic, 32);
    }
    before = log;
    topicsBefore = topics;
  }
}

function headerSize(payload: usize): usize {
  return payload < 56 ? 1 : payload < 0x100 ? 2 : payload < 0x10000 ? 3 : payload < 0x1000000 ? 4 : 5;
}
function listSize(payload: usize): usize { return headerSize(payload) + payload; }

/** Writes the prefix of a string (`base` 0x80) or list (0xc0); returns the position after it. */
function putHeader(to: usize, payload: usize, base: u32): usize {
  const size = headerSize(payload);
  if (size == 1) store<u8>(to, <u8>(base + <u32>payload));
  else {
    store<u8>(to, <u8>(base + 54 + <u32>size));
    for (let i = size - 1; i > 0; i--, payload >>= 8) store<u8>(to + i, <u8>payload);
  }
  return to + size;
}

/** A single byte below 0x80 is its own encoding. */
function isOwnEncoding(data: usize, size: usize): bool { return size == 1 && load<u8>(data) < 0x80; }

function logPayload(log: usize): usize {
  const topics = <usize>load<u32>(log, 4), size = <usize>load<u32>(log, 8);
  const data = isOwnEncoding(log + LOG_HEAD + (topics << 5), size) ? <usize>1 : listSize(size);
  return ADDRESS_ITEM + listSize(TOPIC_ITEM * topics) + data;
}

function putLog(log: usize, to: usize): usize {
  const topics = <usize>load<u32>(log, 4), size = <usize>load<u32>(log, 8);
  to = putHeader(to, logPayload(log), 0xc0);
  store<u8>(to, 0x80 + 20);
  memory.copy(to + 1, <usize>load<u32>(log) + ADDRESS_BYTES, 20);
  to = putHeader(to + ADDRESS_ITEM, TOPIC_ITEM * topics, 0xc0);
  let from = log + LOG_HEAD;
  for (let i: usize = 0; i < topics; i++, from += 32, to += TOPIC_ITEM) {
    store<u8>(to, 0x80 + 32);
    memory.copy(to + 1, from, 32);
  }
  if (!isOwnEncoding(from, size)) to = putHeader(to, size, 0x80);
  memory.copy(to, from, size);
  return to + size;
}

/** Writes the list to the start of the frames; returns its size, 0 where there is no memory for it. */
export function encodeLogs(): usize {
  let payload: usize = 0;
  for (let log = logFrom(logsStart); log < logsAt; log = next(log)) payload += listSize(logPayload(log));
  const total = listSize(payload);
  if (!reserve(framesStart, total)) return 0;
  let to = putHeader(framesStart, payload, 0xc0);
  for (let log = logFrom(logsStart); log < logsAt; log = next(log)) to = putLog(log, to);
  return total;
}
