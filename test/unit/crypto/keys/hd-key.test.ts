import { HDKey } from '@scure/bip32'
import { mnemonicToSeedSync } from '@scure/bip39'
import { expect, test } from 'vitest'
import { deriveChild, derivePath, masterKeyFromSeed, seedFromMnemonic } from '../../../../src/crypto/keys/hd-key.ts'

const MNEMONICS = [
  'test test test test test test test test test test test junk',
  'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about',
  'legal winner thank year wave sausage worth useful legal winner thank yellow',
]

test.each(MNEMONICS)('%s: seed and keys are those of the reference library', mnemonic => {
  const seed = mnemonicToSeedSync(mnemonic)
  expect(new Uint8Array(seedFromMnemonic(mnemonic))).toEqual(seed)
  const reference = HDKey.fromMasterSeed(seed)
  for (const path of ["m/44'/60'/0'/0", "m/44'/60'/1'/0/0", 'm/0/1/2', "m/2147483647'/7"]) {
    const expected = reference.derive(path)
    const key = derivePath(masterKeyFromSeed(seed), path)
    expect(key).toEqual({ privateKey: expected.privateKey, chainCode: expected.chainCode })
    expect(deriveChild(key, 9).privateKey).toEqual(expected.deriveChild(9).privateKey)
  }
})

test.each(['44', 'm/x', "m/1''"])('%s is no path', path => {
  expect(() => derivePath(masterKeyFromSeed(new Uint8Array(64)), path)).toThrow()
})
