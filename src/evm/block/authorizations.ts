import { bigintToBytes, concatBytes, EMPTY_BYTES, type Hex, hexToBytes, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { MAX_UINT64, uint64FromBigint } from '@tandem/base/uint64.ts'
import { keccak256 } from '../../crypto/hash.ts'
import { isLowS, isScalar, publicKeyToAddress, signatures } from '../../crypto/signature.ts'
import { encodeRlp } from '../../primitives/rlp/rlp.ts'
import { AUTHORIZATION_MAGIC, delegationCode, isDelegation } from '../../primitives/transaction/delegation.ts'
import type { Authorization } from '../../primitives/transaction/transaction.ts'
import { EMPTY_CODE_HASH } from '../../state/account.ts'
import type { Journal } from '../../state/journal/journal.ts'

const MAGIC = Uint8Array.of(AUTHORIZATION_MAGIC)
/** Refund of an authorization whose account exists already: 25,000 - 12,500. */
const EXISTING_ACCOUNT_REFUND = 12_500n

interface AppliedAuthorizations {
  /** Authorities, which become warm. */
  readonly warm: readonly Hex[]
  readonly refund: bigint
}

const NOTHING: AppliedAuthorizations = { warm: [], refund: 0n }

const padWord = (bytes: Uint8Array): Uint8Array => concatBytes(new Uint8Array(32 - bytes.byteLength), bytes)

/** Signers that were recovered: estimates try a list many times, and a pooled one is executed later. */
const recovered = new WeakMap<Authorization, Hex | null>()

/** Returns the signer of the authorization; undefined for an invalid signature. */
export const authorityOf = (authorization: Authorization): Hex | undefined => {
  let authority = recovered.get(authorization)
  if (authority === undefined) {
    authority = recoverAuthority(authorization) ?? null
    recovered.set(authorization, authority)
  }
  return authority ?? undefined
}

const recoverAuthority = ({ chainId, address, nonce, yParity, r, s }: Authorization): Hex | undefined => {
  if (yParity > 1 || r.byteLength > 32 || s.byteLength > 32) return undefined
  const signature = concatBytes(padWord(r), padWord(s))
  if (!isScalar(signature.subarray(0, 32)) || !isScalar(signature.subarray(32)) || !isLowS(signature.subarray(32))) {
    return undefined
  }
  const signed = encodeRlp([bigintToBytes(chainId), hexToBytes(address), bigintToBytes(nonce)])
  const key = signatures().recover(keccak256(concatBytes(MAGIC, signed)), signature, yParity)
  return key === undefined ? undefined : publicKeyToAddress(key)
}

/** Sets the delegations of a type-4 transaction; an invalid authorization is skipped (EIP-7702). */
export const applyAuthorizations = (
  journal: Journal,
  chainId: number,
  list: readonly Authorization[],
): AppliedAuthorizations => {
  if (list.length === 0) return NOTHING
  const warm: Hex[] = []
  let refund = 0n
  for (const authorization of list) {
    if (authorization.chainId !== 0n && authorization.chainId !== BigInt(chainId)) continue
    if (authorization.nonce === MAX_UINT64) continue
    const authority = authorityOf(authorization)
    if (authority === undefined) continue
    warm.push(authority)
    if (journal.codeHash(authority) !== EMPTY_CODE_HASH && !isDelegation(journal.code(authority))) continue
    if (BigInt(journal.nonce(authority)) !== authorization.nonce) continue
    if (journal.exists(authority)) refund += EXISTING_ACCOUNT_REFUND
    journal.setNonce(authority, uint64FromBigint(authorization.nonce + 1n))
    const clears = authorization.address === ZERO_ADDRESS
    journal.setCode(authority, clears ? EMPTY_BYTES : delegationCode(authorization.address))
  }
  return { warm, refund }
}
