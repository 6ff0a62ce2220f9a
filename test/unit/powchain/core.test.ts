import { EMPTY_BYTES } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import { MAX_PENDING_DEPTH, OMISSION_MS, PendingProofs } from '../../../src/powchain/core.ts'
import { type ProofHeader, proofHeaderId } from '../../../src/primitives/proof-header.ts'
import { extendProofState, firstProofState, type ProofState } from '../../../src/rules/proof/proof-header.ts'
import { anchorHashOf, childOf, grow, MINER, OTHER_MINER, paramsWithFork } from '../../support/powchain/headers.ts'

const params = paramsWithFork(20)
const stateAfter = (state: ProofState, header: ProofHeader): ProofState =>
  extendProofState(params, state, header, proofHeaderId(header))

const setUp = () => {
  const state = grow(params, 3)
  const headNumber = state.tipAnchor + 20
  return { state, headNumber, pending: new PendingProofs(params, { state, headNumber }) }
}

describe('pending proof headers', () => {
  test('are kept once, above the final tip only', () => {
    const { state, pending } = setUp()
    const header = childOf(params, state, state.tipAnchor + 5)
    expect(pending.add(header, 0)).toBe('added')
    expect(pending.add(header, 1)).toBe('known')
    expect(pending.add({ ...header, parentId: anchorHashOf(9) }, 1)).toBe('orphan')
    expect(pending.best()?.id).toBe(proofHeaderId(header))
  })

  test('a chain of them is bounded in depth, and all of them in number', () => {
    const { state, pending } = setUp()
    let tip = state
    for (let depth = 1; depth <= MAX_PENDING_DEPTH; depth++) {
      const header = childOf(params, tip, tip.tipAnchor + 1)
      expect(pending.add(header, 0)).toBe('added')
      tip = stateAfter(tip, header)
    }
    expect(pending.add(childOf(params, tip, tip.tipAnchor + 1), 0)).toBe('too deep')
    let answer = 'added'
    for (let i = 0; answer === 'added'; i++) {
      answer = pending.add(childOf(params, state, state.tipAnchor + 5, { extraNonce: Buffer.from(`${i}`) }), 0)
    }
    expect(answer).toBe('full')
    expect(pending.size).toBe(256)
  })

  test('the first-seen child of the final tip is preferred to a heavier branch, for ten main blocks', () => {
    const { state, headNumber, pending } = setUp()
    const first = childOf(params, state, state.tipAnchor + 5)
    const rival = childOf(params, state, state.tipAnchor + 4, { coinbase: OTHER_MINER })
    const second = childOf(params, stateAfter(state, rival), state.tipAnchor + 6, { coinbase: OTHER_MINER })
    for (const header of [first, rival, second]) pending.add(header, 0)
    expect(pending.best()?.id).toBe(proofHeaderId(first))
    pending.advance({ state, headNumber: headNumber + 10 })
    expect(pending.best()?.id).toBe(proofHeaderId(first))
    pending.advance({ state, headNumber: headNumber + 11 })
    expect(pending.best()?.id).toBe(proofHeaderId(second))
    expect(pending.forBlock(headNumber + 12).map(({ id }) => id)).toEqual([rival, second].map(proofHeaderId))
  })

  test('below that child the heaviest branch wins, the first-seen one of equals', () => {
    const { state, pending } = setUp()
    const root = childOf(params, state, state.tipAnchor + 5)
    const tip = stateAfter(state, root)
    const early = childOf(params, tip, tip.tipAnchor + 2)
    const late = childOf(params, tip, tip.tipAnchor + 2, { coinbase: OTHER_MINER })
    for (const header of [root, early, late]) pending.add(header, 0)
    expect(pending.best()?.id).toBe(proofHeaderId(early))
    pending.add(childOf(params, stateAfter(tip, late), tip.tipAnchor + 3), 0)
    expect(pending.best()?.header.parentId).toBe(proofHeaderId(late))
  })

  test('a main block that includes one keeps its descendants and drops its siblings', () => {
    const { state, headNumber, pending } = setUp()
    const included = childOf(params, state, state.tipAnchor + 5)
    const sibling = childOf(params, state, state.tipAnchor + 5, { coinbase: OTHER_MINER })
    const next = stateAfter(state, included)
    const child = childOf(params, next, next.tipAnchor + 5)
    for (const header of [included, sibling, child]) pending.add(header, 0)
    pending.advance({ state: next, headNumber: headNumber + 1 })
    expect(pending.size).toBe(1)
    expect(pending.best()).toMatchObject({ id: proofHeaderId(child), depth: 1 })
  })

  test('those whose anchor becomes too old are dropped with their descendants', () => {
    const { state, pending } = setUp()
    const header = childOf(params, state, state.tipAnchor + 5)
    pending.add(header, 0)
    pending.add(childOf(params, stateAfter(state, header), state.tipAnchor + 10), 0)
    pending.advance({ state, headNumber: state.tipAnchor + 5 + 119 })
    expect(pending.size).toBe(2)
    pending.advance({ state, headNumber: state.tipAnchor + 5 + 120 })
    expect(pending.size).toBe(0)
  })
})

describe('contents of the next main block', () => {
  test('are at most two headers of the preferred branch', () => {
    const { state, headNumber, pending } = setUp()
    let tip = state
    for (let i = 0; i < 3; i++) {
      const header = childOf(params, tip, tip.tipAnchor + 2)
      pending.add(header, 0)
      tip = stateAfter(tip, header)
    }
    expect(pending.forBlock(headNumber + 1).map(({ header }) => header.height)).toEqual([4, 5])
  })

  test('end before a header whose anchor is the block itself', () => {
    const { state, headNumber, pending } = setUp()
    pending.add(childOf(params, state, headNumber), 0)
    expect(pending.forBlock(headNumber)).toEqual([])
    expect(pending.forBlock(headNumber + 1)).toHaveLength(1)
  })
})

describe('the vote rule', () => {
  test('holds from 1.5 s after a header was known, twice as long each round, and not from round 3 on', () => {
    const { state, headNumber, pending } = setUp()
    pending.add(childOf(params, state, state.tipAnchor + 5), 1_000)
    const overdue = (round: number, nowMs: number) => pending.overdue(headNumber + 1, round, nowMs) !== undefined
    for (const round of [0, 1, 2]) {
      const limit = 1_000 + OMISSION_MS * 2 ** round
      expect([overdue(round, limit), overdue(round, limit + 1)]).toEqual([false, true])
    }
    expect(overdue(3, 1_000_000)).toBe(false)
  })

  test('asks for nothing whose anchor the block cannot use', () => {
    const { state, headNumber, pending } = setUp()
    pending.add(childOf(params, state, headNumber), 0)
    expect(pending.overdue(headNumber, 0, 1_000_000)).toBeUndefined()
    expect(pending.overdue(headNumber + 1, 0, 1_000_000)).toBeDefined()
  })
})

describe('work for miners', () => {
  const hash = anchorHashOf

  test('builds on the preferred tip, with the main head as its anchor', () => {
    const { state, headNumber, pending } = setUp()
    const header = childOf(params, state, state.tipAnchor + 5)
    pending.add(header, 0)
    const template = pending.template({ number: headNumber, hash: hash(headNumber) }, MINER, EMPTY_BYTES)
    expect(template).toMatchObject({ height: 5, parentId: proofHeaderId(header), anchorNumber: headNumber })
  })

  test("waits for a main block when the head is the tip's own anchor", () => {
    const { state, headNumber, pending } = setUp()
    pending.add(childOf(params, state, headNumber), 0)
    expect(pending.template({ number: headNumber, hash: hash(headNumber) }, MINER, EMPTY_BYTES)).toBeUndefined()
    const next = headNumber + 1
    expect(pending.template({ number: next, hash: hash(next) }, MINER, EMPTY_BYTES)).toBeDefined()
  })

  test('begins on genesis', () => {
    const pending = new PendingProofs(params, { state: firstProofState(params), headNumber: 0 })
    expect(pending.template({ number: 0, hash: hash(0) }, MINER, EMPTY_BYTES)).toMatchObject({
      height: 1,
      anchorNumber: 0,
    })
  })
})
