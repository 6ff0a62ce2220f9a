import { HDKey } from '@scure/bip32'
import { mnemonicToSeedSync, validateMnemonic } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import { checksumAddress } from '../crypto/checksum.ts'
import { addressOf } from '../crypto/signature.ts'
import { assert } from '../util/assert.ts'
import { bytesToHex, type Hex } from '../util/bytes.ts'

/** The mnemonic every development tool knows. */
export const TEST_MNEMONIC = 'test test test test test test test test test test test junk'

export interface DevAccount {
  /** With the checksum of EIP-55. */
  readonly address: Hex
  readonly privateKey: Hex
}

/** The first `count` accounts of a mnemonic at m/44'/60'/0'/0/i (BIP-44), and one more branch for the validator. */
export const accountsOf = (mnemonic: string, count: number): { accounts: DevAccount[]; validatorKey: Uint8Array } => {
  if (!validateMnemonic(mnemonic, wordlist)) {
    throw new Error('--mnemonic is not a valid English BIP-39 mnemonic (12 to 24 words with a checksum)')
  }
  const root = HDKey.fromMasterSeed(mnemonicToSeedSync(mnemonic))
  const branch = root.derive("m/44'/60'/0'/0")
  const accounts = Array.from({ length: count }, (_, index) => {
    const { privateKey } = branch.deriveChild(index)
    assert(privateKey, 'a derived key has its private part')
    return { address: checksumAddress(addressOf(privateKey)), privateKey: bytesToHex(privateKey) }
  })
  const { privateKey } = root.derive("m/44'/60'/1'/0/0")
  assert(privateKey, 'a derived key has its private part')
  return { accounts, validatorKey: privateKey }
}
