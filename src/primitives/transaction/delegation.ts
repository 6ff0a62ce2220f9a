import { bigintToBytes, bytesToHex, concatBytes, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { encodeRlp } from '../rlp/rlp.ts'
import type { Authorization } from './transaction.ts'

/** Code of an account that runs another account's code: this prefix and the address (EIP-7702). */
const PREFIX = Uint8Array.of(0xef, 0x01, 0x00)
const SIZE = PREFIX.byteLength + 20

/** Returns true when code is a delegation. */
export const isDelegation = (code: Uint8Array): boolean =>
  code.byteLength === SIZE && code[0] === PREFIX[0] && code[1] === PREFIX[1] && code[2] === PREFIX[2]

/** Account whose code runs at a delegating account; undefined for other code. */
export const delegationTarget = (code: Uint8Array): Hex | undefined =>
  isDelegation(code) ? bytesToHex(code.subarray(PREFIX.byteLength)) : undefined

/** Code that delegates to an account. */
export const delegationCode = (target: Hex): Uint8Array => concatBytes(PREFIX, hexToBytes(target))

/** First byte of the payload that an authority signs. */
const AUTHORIZATION_MAGIC = 0x05

/** Bytes of an authorization from which its signer is recovered as the sender of a transaction is (crypto/recovery). */
export const authorizationBytes = ({ chainId, address, nonce, yParity, r, s }: Authorization): Uint8Array => {
  const signed = [bigintToBytes(chainId), hexToBytes(address), bigintToBytes(nonce)]
  return concatBytes(Uint8Array.of(AUTHORIZATION_MAGIC), encodeRlp([...signed, bigintToBytes(BigInt(yParity)), r, s]))
}
