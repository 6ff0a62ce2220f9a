import { isCoded } from '@tandem/base/errors.ts'
import { expect, test } from 'vitest'
import { PROOF_BOUNDS } from '../../../../src/config/protocol-bounds.ts'
import type { ProofState } from '../../../../src/rules/proof/proof-header.ts'
import { decodeProofState, encodeProofState } from '../../../../src/rules/proof/proof-state.ts'

const COINBASE = `0x${'ff'.repeat(20)}` as const
const MOST = 2n ** 256n - 1n

/** The longest state: every number at its bound, with so many coinbases. */
const longest = (coinbases: number): ProofState => ({
  tipId: `0x${'ff'.repeat(32)}`,
  tipHeight: Number.MAX_SAFE_INTEGER,
  tipAnchor: Number.MAX_SAFE_INTEGER,
  tipTarget: MOST,
  coinbase: COINBASE,
  coinbases: Array.from({ length: coinbases }, () => COINBASE),
  totalWork: 2n ** 512n - 1n,
  reference: { height: Number.MAX_SAFE_INTEGER, anchorNumber: Number.MAX_SAFE_INTEGER, target: MOST },
})

test('the longest state has exactly the bytes that snapshots allow', () => {
  const bytes = encodeProofState(longest(PROOF_BOUNDS.paidHeaders))
  expect(bytes.byteLength).toBe(PROOF_BOUNDS.stateBytes)
  expect(decodeProofState(bytes)).toEqual(longest(PROOF_BOUNDS.paidHeaders))
})

test('a state with a coinbase more than are paid is refused', () => {
  expect(() => decodeProofState(encodeProofState(longest(PROOF_BOUNDS.paidHeaders + 1)))).toThrow(
    expect.toSatisfy(error => isCoded(error) && error.code === 'PROOF_STATE_MALFORMED'),
  )
})
