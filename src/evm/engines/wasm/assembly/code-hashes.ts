/* EXTCODEHASH. */
import { clear, swapBytes } from "./word";
import { keccak256 } from "../../../../crypto/assembly/keccak";
import { CODE, CODE_LOADED, CODE_SIZE, has, HAS_CODE, isEmpty } from "./accounts";
import { hashOf, isObjectFormat } from "./codes";

export const EMPTY_HASH: usize = memory.data(32, 16);
/** keccak256 of 0xef00, which EthereumJS returns for code of the object format. */
const OBJECT_FORMAT_HASH: usize = memory.data(32, 16);
const WORD: usize = memory.data(32, 16);

/** Called once before the first message. */
export function prepareCodeHashes(): void {
  store<u16>(WORD, 0x00ef);
  keccak256(WORD, 2, OBJECT_FORMAT_HASH);
}

/** EXTCODEHASH; the code is loaded where its hash is not known. */
export function pushHash(to: usize, account: usize): void {
  if (has(account, HAS_CODE | CODE_LOADED) && load<u32>(account, CODE_SIZE) && isObjectFormat(load<u32>(account, CODE), load<u32>(account, CODE_SIZE))) return swapBytes(to, OBJECT_FORMAT_HASH);
  if (isEmpty(account)) return clear(to);
  swapBytes(to, has(account, HAS_CODE) ? hashOf(account) : EMPTY_HASH);
}
