import type { Hex } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import { certificateFault, certificateFromCommits } from '../../../src/consensus/certificate.ts'
import { recoverAddress, sign } from '../../../src/crypto/signature.ts'
import type { Certificate } from '../../../src/primitives/consensus/certificate.ts'
import { blockVoteDigest, type Commit } from '../../../src/primitives/consensus/vote.ts'
import { committeeOf, DOMAIN, keyOf } from '../../support/consensus/member.ts'

const committee = committeeOf(4)
const blockHash: Hex = `0x${'ab'.repeat(32)}`
const sealed = { number: 9, blockHash }

const commit = (sender: number, changes: Partial<Commit> = {}, domain = DOMAIN): Commit => {
  const unsigned = { type: 'commit', number: 9, round: 2, blockHash, ...changes } as const
  return { ...unsigned, sender, signature: sign(blockVoteDigest(domain, unsigned), keyOf(sender)) }
}

const faultOf = (certificate: Certificate) => certificateFault(certificate, sealed, committee, DOMAIN, recoverAddress)

describe('certificates', () => {
  test('of a quorum, or of all, are sound', () => {
    expect(faultOf(certificateFromCommits(2, 4, [commit(0), commit(1), commit(3)]))).toBeNull()
    expect(faultOf(certificateFromCommits(2, 4, [commit(3), commit(1), commit(0), commit(2)]))).toBeNull()
  })

  test('of fewer are not', () => {
    expect(faultOf(certificateFromCommits(2, 4, [commit(0), commit(1)]))).toBe('NO_QUORUM')
    expect(faultOf({ round: 2, bitmap: new Uint8Array(1), seals: [] })).toBe('NO_QUORUM')
  })

  test('a signer counts once, whatever the bitmap says', () => {
    const { signature } = commit(0)
    expect(faultOf({ round: 2, bitmap: Uint8Array.of(0b0001), seals: [signature, signature, signature] })).toBe(
      'SEAL_COUNT',
    )
    expect(faultOf({ round: 2, bitmap: Uint8Array.of(0b0111), seals: [signature, signature, signature] })).toBe(
      'SEAL_INVALID',
    )
  })

  test('seals in another order than the bitmap are refused', () => {
    const { bitmap, seals } = certificateFromCommits(2, 4, [commit(0), commit(1), commit(3)])
    expect(faultOf({ round: 2, bitmap, seals: seals.toReversed() })).toBe('SEAL_INVALID')
    expect(faultOf({ round: 2, bitmap: Uint8Array.of(0b1101), seals })).toBe('SEAL_INVALID')
  })

  test('bits outside the committee, and bitmaps of another length, are refused', () => {
    const { seals } = certificateFromCommits(2, 4, [commit(0), commit(1), commit(3)])
    expect(faultOf({ round: 2, bitmap: Uint8Array.of(0b10011), seals })).toBe('SIGNER_OUTSIDE')
    expect(faultOf({ round: 2, bitmap: Uint8Array.of(0b1011, 0), seals })).toBe('BITMAP_LENGTH')
    expect(faultOf({ round: 2, bitmap: new Uint8Array(0), seals })).toBe('BITMAP_LENGTH')
  })

  test.each<[string, Commit]>([
    ['round', commit(3, { round: 1 })],
    ['height', commit(3, { number: 8 })],
    ['block', commit(3, { blockHash: `0x${'cd'.repeat(32)}` })],
    ['chain', commit(3, {}, { ...DOMAIN, chainId: 1 })],
    ['genesis', commit(3, {}, { ...DOMAIN, genesisHash: blockHash })],
  ])('a seal for another %s spoils the certificate', (_, foreign) => {
    expect(faultOf(certificateFromCommits(2, 4, [commit(0), commit(1), foreign]))).toBe('SEAL_INVALID')
  })

  test('prepares are no seals, nor are signatures of strangers, nor garbage', () => {
    const prepare = { type: 'prepare', number: 9, round: 2, blockHash } as const
    const asPrepare = { ...commit(3), signature: sign(blockVoteDigest(DOMAIN, prepare), keyOf(3)) }
    const stranger = { ...commit(3), signature: commit(7).signature }
    const garbage = { ...commit(3), signature: new Uint8Array(65) }
    for (const bad of [asPrepare, stranger, garbage]) {
      expect(faultOf(certificateFromCommits(2, 4, [commit(0), commit(1), bad]))).toBe('SEAL_INVALID')
    }
  })
})
