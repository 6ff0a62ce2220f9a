import { bytesToHex, concatBytes, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import type { Nonce } from '@tandem/base/uint64.ts'
import { keccak256 } from '../../crypto/hash.ts'
import { encodeRlp, uintItem } from '../rlp/rlp.ts'

/** Address of the contract that a transaction or CREATE makes: last 20 bytes of keccak256(RLP[sender, nonce]). */
export const createAddress = (sender: Hex, nonce: Nonce): Hex =>
  bytesToHex(keccak256(encodeRlp([hexToBytes(sender), uintItem(nonce)])).subarray(12))

/** Address of CREATE2 (EIP-1014); `salt` is a 32-byte word. */
export const create2Address = (sender: Hex, salt: Hex, initCodeHash: Hex): Hex =>
  bytesToHex(
    keccak256(
      concatBytes(Uint8Array.of(0xff), hexToBytes(sender), hexToBytes(salt), hexToBytes(initCodeHash)),
    ).subarray(12),
  )
