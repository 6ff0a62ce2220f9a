import { bigintToBytes, hexToBytes } from '@tandem/base/bytes.ts'
import { encodeRlp, uintItem } from '../../primitives/rlp/rlp.ts'
import { type Account, EMPTY_CODE_HASH, EMPTY_ROOT } from '../account.ts'

/** Account as the trie's leaf holds it (Yellow Paper 4.1). */
export const accountLeaf = ({ nonce, balance, storageRoot, codeHash }: Account): Uint8Array =>
  encodeRlp([
    uintItem(nonce),
    bigintToBytes(balance),
    storageRoot === EMPTY_ROOT ? NO_STORAGE : hexToBytes(storageRoot),
    codeHash === EMPTY_CODE_HASH ? NO_CODE : hexToBytes(codeHash),
  ])

// Most accounts have neither.
const NO_STORAGE = hexToBytes(EMPTY_ROOT)
const NO_CODE = hexToBytes(EMPTY_CODE_HASH)
