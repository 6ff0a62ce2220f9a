import { bigintToBytes, bytesFromDigits, bytesToBigint, concatBytes, type Hex, toWord } from '@tandem/base/bytes.ts'
import { callWord } from '../chain/node-rpc.ts'
import type { Authorization } from '../chain/types.ts'
import { checksumAddress, keccak256Hex } from '../keccak.ts'
import { EXPLORER_LIMITS } from '../limits.ts'
import type { ApiContext } from './api-route.ts'

const ECRECOVER: Hex = '0x0000000000000000000000000000000000000001'

/** RLP of a string shorter than 56 bytes. */
const rlpShort = (bytes: Uint8Array): Uint8Array =>
  bytes.byteLength === 1 && (bytes[0] as number) < 0x80
    ? bytes
    : concatBytes(Uint8Array.of(0x80 + bytes.byteLength), bytes)

/** Hash that an authority signs (EIP-7702). */
const signedHash = ({ chainId, address, nonce }: Authorization): Hex => {
  const fields = [bigintToBytes(chainId), bytesFromDigits(address.slice(2)), bigintToBytes(nonce)].map(rlpShort)
  const list = concatBytes(...fields)
  return keccak256Hex(concatBytes(Uint8Array.of(5, 0xc0 + list.byteLength), list))
}

/** Signer of an authorization, recovered by the node's precompile; null: the signature is invalid, or the node serves no calls. */
const authorityOf = async (node: ApiContext['node'], authorization: Authorization): Promise<Hex | null> => {
  const { yParity, r, s } = authorization
  const words = [BigInt(yParity) + 27n, bytesToBigint(r), bytesToBigint(s)].map(word => toWord(word).slice(2))
  const signer = await callWord(node, ECRECOVER, `${signedHash(authorization)}${words.join('')}`, '0x186a0')
  return signer?.startsWith(`0x${'00'.repeat(12)}`) ? checksumAddress(`0x${signer.slice(26)}`) : null
}

/** Delegations that a transaction carries, with their signers. */
export const authorizationsBody = ({ node }: ApiContext, list: readonly Authorization[] = []) =>
  Promise.all(
    list.slice(0, EXPLORER_LIMITS.api.authorizations).map(async authorization => ({
      authority: await authorityOf(node, authorization),
      address: checksumAddress(authorization.address),
      nonce: authorization.nonce.toString(),
      chainId: authorization.chainId.toString(),
    })),
  )
