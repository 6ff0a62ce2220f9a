import type { Hex } from '../util/bytes.ts'

export interface Account {
  readonly nonce: number
  readonly balance: bigint
  /** keccak of the code; EMPTY_CODE_HASH without code. */
  readonly codeHash: Hex
  /** Root of the account's storage trie as of the last sealed block; EMPTY_ROOT when empty. */
  readonly storageRoot: Hex
}

export const EMPTY_CODE_HASH: Hex = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'
export const EMPTY_ROOT: Hex = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
