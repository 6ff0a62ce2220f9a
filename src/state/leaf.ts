import { encodeRlp } from '../primitives/rlp.ts'
import { bigintToBytes, hexToBytes } from '../util/bytes.ts'
import type { Account } from './account.ts'

/** An account as the trie's leaf holds it (Yellow Paper 4.1). */
export const accountLeaf = ({ nonce, balance, storageRoot, codeHash }: Account): Uint8Array =>
  encodeRlp([bigintToBytes(BigInt(nonce)), bigintToBytes(balance), hexToBytes(storageRoot), hexToBytes(codeHash)])
