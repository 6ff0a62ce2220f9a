import { bytesToHex } from '@tandem/base/bytes.ts'
import { checksumAddress } from '../crypto/checksum.ts'
import { deriveChild, derivePath, masterKeyFromSeed, seedFromMnemonic } from '../crypto/keys/hd-key.ts'
import { addressFromPrivateKey } from '../crypto/signature.ts'
import type { DevAccount } from './types.ts'

/** Mnemonic that every development tool uses. */
export const TEST_MNEMONIC = 'test test test test test test test test test test test junk'

interface DerivedAccounts {
  readonly accounts: readonly DevAccount[]
  readonly validatorKey: Uint8Array
}

/** Accounts derived last: a test suite makes many chains with the same ones. */
let kept: { readonly mnemonic: string; readonly count: number; readonly derived: DerivedAccounts } | undefined

/** Derives the first `count` accounts of a mnemonic at m/44'/60'/0'/0/i (BIP-44), and one of another branch for the validator. */
export const accountsFromMnemonic = async (mnemonic: string, count: number): Promise<DerivedAccounts> => {
  if (kept?.mnemonic === mnemonic && kept.count === count) return kept.derived
  if (mnemonic !== TEST_MNEMONIC) await checkWords(mnemonic)
  const root = masterKeyFromSeed(seedFromMnemonic(mnemonic))
  const branch = derivePath(root, "m/44'/60'/0'/0")
  const accounts = Array.from({ length: count }, (_, index) => {
    const { privateKey } = deriveChild(branch, index)
    return { address: checksumAddress(addressFromPrivateKey(privateKey)), privateKey: bytesToHex(privateKey) }
  })
  kept = { mnemonic, count, derived: { accounts, validatorKey: derivePath(root, "m/44'/60'/1'/0/0").privateKey } }
  return kept.derived
}

/** The word list is loaded only for other mnemonics than the well-known one. */
const checkWords = async (mnemonic: string): Promise<void> => {
  const [{ validateMnemonic }, { wordlist }] = await Promise.all([
    import('@scure/bip39'),
    import('@scure/bip39/wordlists/english.js'),
  ])
  if (validateMnemonic(mnemonic, wordlist)) return
  throw new Error(
    'mnemonic is not a valid English BIP-39 mnemonic: 12 to 24 words of its list, the last one a checksum',
  )
}
