import { EMPTY_BYTES, type Hex, trimZeros, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { undefinedIfCoded } from '@tandem/base/errors.ts'
import { getOrMake } from '@tandem/base/get-or-make.ts'
import { MAX_UINT64, uint64FromBigint } from '@tandem/base/uint64.ts'
import { recoverSender } from '../../crypto/recovery/recover-sender.ts'
import { authorizationBytes, delegationCode, isDelegation } from '../../primitives/transaction/delegation.ts'
import type { Authorization } from '../../primitives/transaction/transaction.ts'
import { EMPTY_CODE_HASH } from '../../state/account.ts'
import type { Journal } from '../../state/journal/journal.ts'

/** Refund of an authorization whose account exists already: 25,000 - 12,500. */
const EXISTING_ACCOUNT_REFUND = 12_500n

/** Signers that were recovered: estimates try a list many times, and a pooled one is executed later. */
const recovered = new WeakMap<Authorization, Hex | null>()

/** Returns the signer of the authorization; undefined for an invalid signature. */
export const authorityOf = (authorization: Authorization): Hex | undefined =>
  getOrMake(recovered, authorization, () => {
    const [r, s] = [trimZeros(authorization.r), trimZeros(authorization.s)]
    return undefinedIfCoded(() => recoverSender(authorizationBytes({ ...authorization, r, s })))?.from ?? null
  }) ?? undefined

/**
 * Sets the delegations of a type-4 transaction; an invalid authorization is skipped (EIP-7702). Returns the refund, and the authorities,
 * which become warm.
 */
export const applyAuthorizations = (journal: Journal, chainId: number, list: readonly Authorization[]) => {
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
