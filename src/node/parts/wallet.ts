import type { Hex } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { signTypedData } from '../../crypto/keys/typed-data.ts'
import { sign } from '../../crypto/signature.ts'
import type { Wallet, WalletError } from '../../rpc/ports.ts'

/** Wallet of the keys the operator unlocked; every other account is unknown (docs/interface.md#authentication). */
export const createWallet = (
  unlocked: readonly { readonly address: Hex; readonly privateKey: Uint8Array }[],
  impersonates: (account: Hex) => boolean = () => false,
): Wallet => {
  const keys = new Map(unlocked.map(({ address, privateKey }) => [address, privateKey]))
  const keyOf = (address: Hex): Uint8Array => {
    const key = keys.get(address)
    if (key === undefined) throw new CodedError<WalletError>({ code: 'UNKNOWN_ACCOUNT', address })
    return key
  }
  return {
    accounts: () => [...keys.keys()],
    impersonates,
    sign: (address, digest) => sign(digest, keyOf(address)),
    signTyped: async (address, data) => signTypedData(data, keyOf(address)),
  }
}
