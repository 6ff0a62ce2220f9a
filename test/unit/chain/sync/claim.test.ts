import { isCoded } from '@tandem/base/errors.ts'
import { expect, test } from 'vitest'
import { claimFault } from '../../../../src/chain/sync/fetch-blocks.ts'
import { BLOCK_BOUNDS } from '../../../../src/config/protocol-bounds.ts'
import { recoverAddress } from '../../../../src/crypto/signature.ts'
import type { SealedBlock } from '../../../../src/network/messages/consensus-messages.ts'
import { type Block, encodeBlock } from '../../../../src/primitives/block.ts'
import { encodeHeader, type Header } from '../../../../src/primitives/header.ts'
import { encodeRlpList } from '../../../../src/primitives/rlp/rlp.ts'
import { DOMAIN } from '../../../support/consensus/member.ts'
import { committeeFrom, seal, sealedChain } from '../../../support/consensus/sealed-chain.ts'

const ALL = [0, 1, 2, 3]
const CHAIN = sealedChain(6, () => ALL)
const rules = { domain: DOMAIN, recover: recoverAddress, committees: { committee: () => committeeFrom(ALL) } }

const sealed = (numbers: readonly number[], encode: (block: Block) => Uint8Array = encodeBlock): SealedBlock[] =>
  numbers.map(number => {
    const { block, certificate } = CHAIN[number - 1]!
    return { block: encode(block), certificate }
  })
/** A header, and bytes that nobody can read behind it. */
const withGarbage = ({ header }: { readonly header: Header }): Uint8Array =>
  encodeRlpList([encodeHeader(header), new Uint8Array(1_000).fill(0xf8)])

test('an honest answer has none', () => {
  expect(claimFault(sealed([3, 4, 5]), 3, rules)).toBeNull()
})

test('it is seen before any body is read', () => {
  expect(claimFault(sealed([3, 4, 5], withGarbage), 3, rules)).toBeNull()
  expect(claimFault(sealed([3, 5], withGarbage), 3, rules)).toEqual({ number: 4, reason: 'NUMBER' })
  expect(claimFault(sealed([4], withGarbage), 3, rules)).toEqual({ number: 3, reason: 'NUMBER' })
  const other = sealedChain(6, () => [3, 2, 1, 0])[3]!
  const mixed = [...sealed([3], withGarbage), { block: withGarbage(other.block), certificate: other.certificate }]
  expect(claimFault(mixed, 3, rules)).toEqual({ number: 4, reason: 'LINK' })
})

test.each([
  ['of too few', seal(CHAIN[4]!.block, ALL, { signers: 2 }), 'NO_QUORUM'],
  ['of another round', { ...CHAIN[4]!.certificate, round: 7 }, 'SEAL_INVALID'],
  ['of one that signs for all', seal(CHAIN[4]!.block, ALL, { as: () => 1 }), 'SEAL_INVALID'],
  [
    'of members that no committee has',
    { ...CHAIN[4]!.certificate, bitmap: Uint8Array.of(0b1110_0000) },
    'SIGNER_OUTSIDE',
  ],
  ['of another block', CHAIN[3]!.certificate, 'SEAL_INVALID'],
])('the certificate %s is one', (_, certificate, reason) => {
  const [block] = sealed([5], withGarbage)
  expect(claimFault([{ block: block!.block, certificate }], 5, rules)).toEqual({ number: 5, reason })
})

test('a certificate of a committee that is not known yet is not judged', () => {
  const unknown = { ...rules, committees: { committee: () => undefined } }
  const [block] = sealed([5])
  expect(claimFault([{ block: block!.block, certificate: CHAIN[3]!.certificate }], 5, unknown)).toBeNull()
})

test('a header that is too long is refused before it is hashed', () => {
  const { header } = CHAIN[0]!.block
  const long = withGarbage({ header: { ...header, extraData: new Uint8Array(BLOCK_BOUNDS.headerBytes) } })
  const error = (() => {
    try {
      return claimFault([{ block: long, certificate: CHAIN[0]!.certificate }], 1, rules)
    } catch (thrown) {
      return thrown
    }
  })()
  expect(isCoded(error) && error.code).toBe('BLOCK_MALFORMED')
})
