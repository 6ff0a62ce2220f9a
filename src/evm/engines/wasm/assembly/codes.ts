/* Codes of accounts, each with its jump destinations: kept across messages until the region is full. */
import { align, codesEnd, codesStart, exhaust } from "./memory";
import { keccak256 } from "../../../../crypto/assembly/keccak";
import { analyse, CODE_HEADER, CODE_TAIL } from "./frames";
import { CODE, CODE_HASH, CODE_LOADED, CODE_SIZE, FLAGS, HAS_CODE, HASH_KNOWN, JUMPS } from "./accounts";

export let codesAt: usize = 0;

/** Drops all codes: no account may refer to one. */
export function dropCodes(): void { codesAt = codesStart; }

/** Reserves room for a code; 0 when there is none. The host writes it there and calls `keepCode`. */
export function codeRoom(size: u32): usize {
  if (codesAt + CODE_HEADER + size + CODE_TAIL + (size >> 3) + 64 > codesEnd) {
    exhaust();
    return 0;
  }
  return codesAt + CODE_HEADER;
}
/** Completes the code at the end of the region; returns the address of its jump destinations. */
export function keepCode(size: u32): usize {
  const code = codesAt + CODE_HEADER, jumps = code + size + CODE_TAIL;
  memory.fill(codesAt, 0, CODE_HEADER);
  memory.fill(code + size, 0, CODE_TAIL);
  analyse(code, size, jumps);
  codesAt = align(jumps + (size >> 3) + 1);
  return jumps;
}
/** Assigns the code at an address to an account. */
export function useCode(account: usize, code: usize, size: u32, jumps: usize): void {
  store<u32>(account, <u32>code, CODE);
  store<u32>(account, size, CODE_SIZE);
  store<u32>(account, <u32>jumps, JUMPS);
  store<u32>(account, load<u32>(account, FLAGS) | CODE_LOADED, FLAGS);
}
/** Assigns new code, which is copied, to an account; empty code removes it. The account must already be saved for undo. */
export function setCodeOf(account: usize, from: usize, size: u32): void {
  const flags = load<u32>(account, FLAGS) & ~(HAS_CODE | CODE_LOADED | HASH_KNOWN);
  store<u32>(account, flags, FLAGS);
  if (size == 0) return store<u32>(account, 0, CODE_SIZE);
  const at = codeRoom(size);
  if (at == 0) return;
  memory.copy(at, from, size);
  store<u32>(account, flags | HAS_CODE, FLAGS);
  useCode(account, at, size, keepCode(size));
}
/** Returns the account's code hash as 32 bytes; code of an unknown hash must be loaded. */
export function hashOf(account: usize): usize {
  if ((load<u32>(account, FLAGS) & HASH_KNOWN) == 0) {
    keccak256(load<u32>(account, CODE), load<u32>(account, CODE_SIZE), account + CODE_HASH);
    store<u32>(account, load<u32>(account, FLAGS) | HASH_KNOWN, FLAGS);
  }
  return account + CODE_HASH;
}

/** EIP-7702: the code is 0xef0100 and an address. */
export function isDelegation(account: usize): bool {
  const at = <usize>load<u32>(account, CODE);
  return load<u32>(account, CODE_SIZE) == 23 && load<u8>(at) == 0xef && load<u8>(at, 1) == 0x01 && load<u8>(at, 2) == 0x00;
}
/** First bytes of EIP-3540: EthereumJS shows only these bytes of such code. */
export function isObjectFormat(at: usize, size: u64): bool {
  return size >= 2 && load<u8>(at) == 0xef && load<u8>(at, 1) == 0x00;
}
