import { type Hex, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import { describe, expect, test } from 'vitest'
import type { ProofHeader } from '../../../../src/primitives/proof-header.ts'
import { checkProofHeader, firstProofState, type ProofHeaderError } from '../../../../src/rules/proof/proof-header.ts'
import { anchorHashOf, childOf, grow, paramsWithFork } from '../../../support/powchain/headers.ts'

const params = paramsWithFork(20)
const view = (including: number) => ({
  including,
  hashOf: (number: number): Hex | undefined => (number < including ? anchorHashOf(number) : undefined),
})

/** Code of the rule that a header breaks; undefined when it keeps all. */
const faultOf = (
  state: Parameters<typeof checkProofHeader>[1],
  header: ProofHeader,
  including: number,
  rules = params,
): ProofHeaderError['code'] | undefined => {
  try {
    checkProofHeader(rules, state, header, view(including))
    return undefined
  } catch (error) {
    if (isCoded(error)) return error.code as ProofHeaderError['code']
    throw error
  }
}

describe('a proof header', () => {
  const state = grow(params, 5)
  const anchor = state.tipAnchor + 5
  const valid = childOf(params, state, anchor)

  test('that keeps every rule is accepted', () => {
    expect(faultOf(state, valid, anchor + 1)).toBeUndefined()
  })

  test.each<[string, Partial<ProofHeader>, ProofHeaderError['code']]>([
    ['another height', { height: 7 }, 'PROOF_HEIGHT'],
    ['another parent', { parentId: anchorHashOf(99) }, 'PROOF_PARENT'],
    ['no payee', { coinbase: ZERO_ADDRESS }, 'PROOF_COINBASE'],
    ['a target one too easy', { target: valid.target + 1n }, 'PROOF_TARGET'],
    ['a target one too hard', { target: valid.target - 1n }, 'PROOF_TARGET'],
    ['an anchor of another chain', { anchorHash: anchorHashOf(99) }, 'PROOF_ANCHOR_HASH'],
    ['the version of later heights', { version: 2 }, 'PROOF_VERSION'],
    ['a version nobody knows', { version: 3 }, 'PROOF_VERSION'],
    ['a mixHash under version 1', { mixHash: new Uint8Array(32) }, 'PROOF_MIX_HASH'],
  ])('with %s is refused', (_, change, code) => {
    expect(faultOf(state, { ...valid, ...change }, anchor + 1)).toBe(code)
  })

  test('may be included from the block after its anchor for 120 blocks', () => {
    expect(faultOf(state, valid, anchor)).toBe('PROOF_ANCHOR_FUTURE')
    expect(faultOf(state, valid, anchor + 120)).toBeUndefined()
    expect(faultOf(state, valid, anchor + 121)).toBe('PROOF_ANCHOR_STALE')
  })

  test("must stand on a later main block than its parent's", () => {
    expect(faultOf(state, childOf(params, state, state.tipAnchor), anchor)).toBe('PROOF_ANCHOR_ORDER')
    expect(faultOf(state, childOf(params, state, state.tipAnchor + 1), anchor)).toBeUndefined()
  })

  test('the first one may stand on genesis', () => {
    const first = firstProofState(params)
    expect(faultOf(first, childOf(params, first, 0), 1)).toBeUndefined()
  })
})

describe('the fork at proof height 20', () => {
  test.each([19, 20, 21])('height %i takes its own version and no other', height => {
    const state = grow(params, height - 1)
    const header = childOf(params, state, state.tipAnchor + 5)
    expect(header.version).toBe(height < 20 ? 1 : 2)
    expect(faultOf(state, header, state.tipAnchor + 6)).toBeUndefined()
    const other = { ...header, version: 3 - header.version }
    expect(faultOf(state, other, state.tipAnchor + 6)).toBe('PROOF_VERSION')
  })

  test('the error of outdated work names the fork and what to do', () => {
    const state = grow(params, 19)
    const outdated = { ...childOf(params, state, state.tipAnchor + 5), version: 1 }
    expect(() => checkProofHeader(params, state, outdated, view(state.tipAnchor + 6))).toThrow(
      'from the fork nativeHash at proof height 20 on, headers have version 2 (nativeHash); upgrade the miner',
    )
  })

  test('the first target after it is the easiest one, however hard the last one before was', () => {
    const fast = grow(params, 19, 1)
    expect(fast.tipTarget < params.proofChain.maxTargetBefore).toBe(true)
    expect(childOf(params, fast, fast.tipAnchor + 5).target).toBe(params.proofChain.maxTargetAfter)
    expect(fast.reference).toEqual({
      height: 19,
      anchorNumber: fast.tipAnchor,
      target: params.proofChain.maxTargetAfter,
    })
  })

  test('at 0 and at 1 there is version 2 from the first header on; null leaves version 1', () => {
    for (const height of [0, 1]) {
      const rules = paramsWithFork(height)
      expect(childOf(rules, firstProofState(rules), 3)).toMatchObject({
        version: 2,
        target: rules.proofChain.maxTargetAfter,
      })
    }
    const never = paramsWithFork(null)
    expect(childOf(never, grow(never, 40), 300).version).toBe(1)
  })
})
