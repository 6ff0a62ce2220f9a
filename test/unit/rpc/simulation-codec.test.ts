import { isCoded } from '@tandem/base/errors.ts'
import { describe, expect, test } from 'vitest'
import { SIMULATE_LIMITS } from '../../../src/config/limits/clients.ts'
import { InvalidArgument } from '../../../src/rpc/errors.ts'
import { simulation } from '../../../src/rpc/methods/eth/simulate.ts'

const ADDRESS = `0x${'1a'.repeat(20)}`

const outcome = (value: unknown): unknown => {
  try {
    return simulation.parse(value)
  } catch (error) {
    if (error instanceof InvalidArgument) return `! ${error.message}`
    if (isCoded(error)) return `! ${error.code}`
    throw error
  }
}
const withBlock = (block: unknown) => outcome({ blockStateCalls: [block] })
const withCall = (call: unknown) => withBlock({ calls: [{}, call] })

describe('a simulation', () => {
  test('may leave out all but one block', () => {
    expect(withBlock({})).toEqual({
      blocks: [{ overrides: {}, state: {}, calls: [] }],
      validation: false,
      traceTransfers: false,
      returnFullTransactions: false,
    })
  })

  test('holds overrides, calls and flags', () => {
    const parsed = outcome({
      blockStateCalls: [
        {
          blockOverrides: { number: '0x7', time: '0x8', withdrawals: [] },
          stateOverrides: { [ADDRESS]: { movePrecompileToAddress: ADDRESS } },
          calls: [{ to: ADDRESS, nonce: null, blobVersionedHashes: [] }],
        },
      ],
      validation: true,
      traceTransfers: null,
      returnFullTransactions: true,
    })
    expect(parsed).toMatchObject({
      blocks: [
        {
          overrides: { number: 7, timestamp: 8 },
          state: { [ADDRESS]: { movePrecompileTo: ADDRESS } },
          calls: [{ to: ADDRESS, value: 0n }],
        },
      ],
      validation: true,
      traceTransfers: false,
      returnFullTransactions: true,
    })
  })

  test.each([
    ['no object', [], '! json: cannot unmarshal array into Go value of type ethapi.simOpts'],
    ['no blocks', {}, '! blockStateCalls is missing'],
    ['an empty list', { blockStateCalls: [] }, '! blockStateCalls: at least one block is needed'],
    [
      'blocks that are no list',
      { blockStateCalls: {} },
      '! blockStateCalls: json: cannot unmarshal object into Go value of type []ethapi.simBlock',
    ],
    ['too many blocks', { blockStateCalls: Array(SIMULATE_LIMITS.blocks + 1).fill({}) }, '! SIMULATION_LIMIT'],
    [
      'too many calls',
      { blockStateCalls: Array(2).fill({ calls: Array(SIMULATE_LIMITS.calls / 2 + 1).fill({}) }) },
      '! SIMULATION_LIMIT',
    ],
  ])('is refused: %s', (_, value, want) => {
    expect(outcome(value)).toBe(want)
  })

  test.each([
    [
      'a number that is none',
      { blockOverrides: { number: '7' } },
      '! blockStateCalls: [0]: blockOverrides: number: hex string without 0x prefix',
    ],
    ['withdrawals', { blockOverrides: { withdrawals: [{}] } }, /withdrawals are not simulated/],
    [
      'calls in calls',
      { calls: [[[]]] },
      '! blockStateCalls: [0]: calls: [0]: json: cannot unmarshal array into Go value of type ethapi.TransactionArgs',
    ],
    ['an address that is none', { stateOverrides: { '0x12': {} } }, /^! blockStateCalls: \[0\]: stateOverrides: /],
  ])('names the place of %s', (_, block, want) => {
    expect(withBlock(block)).toEqual(typeof want === 'string' ? want : expect.stringMatching(want))
  })

  test.each([
    ['blobs', { blobVersionedHashes: [`0x${'01'.repeat(32)}`] }, /\[1\]: blobVersionedHashes: transactions with blobs/],
    ['authorizations', { authorizationList: [{}] }, /\[1\]: authorizationList: chainId/],
    ['gas beyond 64 bits', { gas: `0x1${'0'.repeat(16)}` }, /\[1\]: gas: hex number > 64 bits/],
  ])('names the call with %s', (_, call, want) => {
    expect(withCall(call)).toEqual(expect.stringMatching(want))
  })
})
