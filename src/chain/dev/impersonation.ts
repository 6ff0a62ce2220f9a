import type { Hex } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { DEV_LIMITS } from '../../config/limits/chain.ts'
import { keccak256Hex } from '../../crypto/hash.ts'
import { recoverUnknownSenders } from '../../crypto/recovery/known-senders.ts'
import type { SenderRecovery } from '../../crypto/recovery/sender-recovery.ts'
import { impersonatedSenderOf } from '../../primitives/transaction/impersonation.ts'
import { DevelopmentRules } from '../../rules/development.ts'

export type SenderRecoveryPort = Pick<SenderRecovery, 'recoverMany' | 'close'>

/** Sender recovery that also accepts unsigned transactions, which name their sender (primitives/transaction/impersonation.ts). */
export const recoveryWithImpersonation = (
  inner: SenderRecoveryPort,
  development: DevelopmentRules,
): SenderRecoveryPort => {
  DevelopmentRules.check(development)
  const known = (raw: Uint8Array) => {
    const from = impersonatedSenderOf(raw)
    return from && { hash: keccak256Hex(raw), from }
  }
  return {
    recoverMany: (raws, kind) => recoverUnknownSenders(inner, raws, known, kind),
    close: () => inner.close(),
  }
}

export type ImpersonationError = { readonly code: 'TOO_MANY_IMPERSONATED'; readonly limit: number }

/** Accounts that send without a key. */
export class Impersonation {
  readonly #accounts = new Set<Hex>()
  /** Impersonates every account. */
  auto = false

  /** Throws TOO_MANY_IMPERSONATED. */
  start(account: Hex): void {
    const limit = DEV_LIMITS.impersonated
    if (this.#accounts.size >= limit && !this.#accounts.has(account))
      throw new CodedError<ImpersonationError>({ code: 'TOO_MANY_IMPERSONATED', limit })
    this.#accounts.add(account)
  }

  /** Returns false when the account was not impersonated. */
  stop(account: Hex): boolean {
    return this.#accounts.delete(account)
  }

  includes(account: Hex): boolean {
    return this.auto || this.#accounts.has(account)
  }

  clear(): void {
    this.#accounts.clear()
    this.auto = false
  }
}
