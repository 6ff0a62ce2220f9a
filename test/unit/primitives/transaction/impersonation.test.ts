import { bytesToHex, EMPTY_BYTES, type Hex } from '@tandem/base/bytes.ts'
import { Signature } from 'ethers'
import { expect, test } from 'vitest'
import { signatureBytes, signedDigest } from '../../../../devtools/state-test/transaction-sender.ts'
import { createLibauthProvider } from '../../../../src/crypto/libauth-signatures.ts'
import { recoverSender } from '../../../../src/crypto/recovery/recover-sender.ts'
import { createNobleProvider, isLowS, isScalar, signatures } from '../../../../src/crypto/signature.ts'
import {
  impersonatedSender,
  impersonatedSenderOf,
  impersonationSignature,
} from '../../../../src/primitives/transaction/impersonation.ts'
import {
  encodeTransaction,
  type UnsignedTransaction,
} from '../../../../src/primitives/transaction/transaction-encoding.ts'
import { ACCOUNT_KEYS, signedRaw } from '../../../support/chain.ts'

const unsigned = (type: 0 | 1 | 2): UnsignedTransaction => ({
  type,
  chainId: 1_998_999,
  nonce: 0,
  gasLimit: 21_000n,
  maxFeePerGas: 10n,
  maxPriorityFeePerGas: type === 2 ? 1n : 10n,
  to: `0x${'11'.repeat(20)}`,
  value: 1n,
  data: EMPTY_BYTES,
  accessList: [],
})
const SENDERS: readonly Hex[] = [`0x${'00'.repeat(20)}`, `0x${'ff'.repeat(20)}`, `0x${'a1'.repeat(20)}`]

test.each([0, 1, 2] as const)('type %i: the bytes name the sender, and real recovery refuses them', type => {
  const raws = SENDERS.map(sender => encodeTransaction(unsigned(type), impersonationSignature(sender)))
  expect(raws.map(({ raw }) => impersonatedSenderOf(raw))).toEqual(SENDERS)
  expect(raws.map(impersonatedSender)).toEqual(SENDERS)
  for (const { raw } of raws) expect(() => recoverSender(raw)).toThrow('INVALID_SENDER')
})

test('clients read it as a signature, and no provider finds a key behind it', async () => {
  const providers = [signatures(), await createLibauthProvider(), createNobleProvider()]
  for (const sender of SENDERS) {
    const tx = encodeTransaction(unsigned(2), impersonationSignature(sender))
    const bytes = signatureBytes(tx)
    const [r, s] = [bytes.subarray(0, 32), bytes.subarray(32, 64)]
    expect([isScalar(r), isScalar(s), isLowS(s)]).toEqual([true, true, true])
    expect(Signature.from({ r: bytesToHex(r), s: bytesToHex(s), yParity: 0 }).s).toBe(bytesToHex(s))
    for (const provider of providers)
      for (const parity of [0, 1, 2, 3])
        expect(provider.recover(signedDigest(tx), bytes.subarray(0, 64), parity)).toBeUndefined()
  }
})

test('a signed transaction is not taken for one', () => {
  for (const key of ACCOUNT_KEYS) expect(impersonatedSenderOf(signedRaw(key, {}))).toBeUndefined()
  // The mark alone, in data at the end of other bytes, is no transaction.
  expect(() => impersonatedSenderOf(Buffer.concat([Buffer.from('impersonated'), Buffer.alloc(20)]))).toThrow()
  expect(impersonatedSenderOf(new Uint8Array(8))).toBeUndefined()
})
