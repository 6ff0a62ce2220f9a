import type { Hex } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import { EMPTY_CODE_HASH } from '../../../src/state/account.ts'
import { BatchPacker } from '../../../src/state/batch.ts'

const address = (index: number): Hex => `0x${index.toString(16).padStart(40, '0')}`
const word = (index: number): Hex => `0x${index.toString(16).padStart(64, '0')}`

const packed = (packer: BatchPacker, first: number, accounts: number): Buffer => {
  for (let index = first; index < first + accounts; index++)
    packer
      .account(address(index), { nonce: index, balance: BigInt(index), codeHash: EMPTY_CODE_HASH })
      .slot(word(index), word(index + 1))
  return Buffer.from(packer.finish().buffer)
}

test('batches have their own memory, whichever packer is filled while another is, and whatever was in it before', () => {
  const sizes = [1, 20, 1, 100, 3]
  const want = sizes.map((accounts, i) => packed(new BatchPacker({ bytes: 8_192 }), i, accounts).toString('hex'))
  const [open, other] = [new BatchPacker(), new BatchPacker()]
  open.account(address(7), 'keep').slot(word(1), word(2))
  const batches = sizes.map((accounts, i) => packed(i % 2 ? other : new BatchPacker(), i, accounts))
  expect(batches.map(batch => batch.toString('hex'))).toEqual(want)
  expect(packed(open, 1, 1).subarray(-184).toString('hex')).toBe(want[1]!.slice(32, 32 + 2 * 184))
  expect(batches.map(batch => batch.toString('hex'))).toEqual(want)
})
