import { expect, test } from 'vitest'
import { recoverSender } from '../../../src/crypto/sender.ts'
import {
  impersonatedSender,
  impersonatedSenderOf,
  impersonationSignature,
} from '../../../src/primitives/impersonation.ts'
import { encodeTransaction, type UnsignedTransaction } from '../../../src/primitives/transaction-encoding.ts'
import { EMPTY_BYTES, type Hex } from '../../../src/util/bytes.ts'
import { ACCOUNT_KEYS, signedRaw } from '../../support/chain.ts'

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

test('a signed transaction is not taken for one', () => {
  for (const key of ACCOUNT_KEYS) expect(impersonatedSenderOf(signedRaw(key, {}))).toBeUndefined()
  // The mark alone, in data at the end of other bytes, is no transaction.
  expect(() => impersonatedSenderOf(Buffer.concat([Buffer.alloc(12, 0xff), Buffer.alloc(20)]))).toThrow()
  expect(impersonatedSenderOf(new Uint8Array(8))).toBeUndefined()
})
