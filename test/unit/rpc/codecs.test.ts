import { describe, expect, test } from 'vitest'
import { block, blockNumber } from '../../../src/rpc/codecs/block.ts'
import { callMessageFromArgs, callObject } from '../../../src/rpc/codecs/call.ts'
import { logFilter } from '../../../src/rpc/codecs/filter.ts'
import { blockOverrides, stateOverrides } from '../../../src/rpc/codecs/overrides.ts'
import { address, data, full, hash, quantity, slot } from '../../../src/rpc/codecs/scalars.ts'
import { traceConfig } from '../../../src/rpc/codecs/trace.ts'
import { InvalidArgument } from '../../../src/rpc/errors.ts'
import { blockCount, percentiles } from '../../../src/rpc/methods/eth/fee-history.ts'
import type { Codec } from '../../../src/rpc/router/method-description.ts'

const ADDRESS = `0x${'1a'.repeat(20)}`
const HASH = `0x${'2b'.repeat(32)}`

/** Result of the codec for a value, or `! reason`. */
const outcome = (codec: Codec<unknown>, value: unknown): unknown => {
  try {
    return codec.parse(value)
  } catch (error) {
    if (error instanceof InvalidArgument) return `! ${error.message}`
    throw error
  }
}

describe('quantity', () => {
  test.each([
    ['0x0', 0n],
    ['0x41', 0x41n],
    ['0X400', 0x400n],
    ['0xFf', 255n],
    [`0x${'f'.repeat(64)}`, 2n ** 256n - 1n],
    ['0x', '! hex string "0x"'],
    ['0x0400', '! hex number with leading zero digits'],
    ['ff', '! hex string without 0x prefix'],
    ['safe', '! hex string without 0x prefix'],
    ['', '! empty hex string'],
    ['0xfg', '! invalid hex string'],
    ['0x-1', '! invalid hex string'],
    [`0x1${'0'.repeat(64)}`, '! hex number > 256 bits'],
    [5, '! json: cannot unmarshal non-string into Go value of type *hexutil.Big'],
    [{}, '! json: cannot unmarshal non-string into Go value of type *hexutil.Big'],
  ])('%s', (value, want) => {
    expect(outcome(quantity, value)).toBe(want)
  })
})

describe('data', () => {
  test('takes pairs of digits', () => {
    expect(outcome(data, '0x')).toEqual(new Uint8Array(0))
    expect(outcome(data, '0x004200')).toEqual(Uint8Array.of(0, 0x42, 0))
    expect(outcome(data, '0xABcd')).toEqual(Uint8Array.of(0xab, 0xcd))
  })
  test.each([
    ['0xf0f0f', '! hex string of odd length'],
    ['004200', '! hex string without 0x prefix'],
    ['0xzz', '! invalid hex string'],
    // The lower bytes of these two are digits.
    ['0x\u0130\u0131', '! invalid hex string'],
    [null, '! json: cannot unmarshal non-string into Go value of type hexutil.Bytes'],
  ])('%s', (value, want) => {
    expect(outcome(data, value)).toBe(want)
  })
})

describe('fixed sizes', () => {
  test('lower-cases, so that a checksummed address is the same key', () => {
    expect(outcome(address, '0xABCDEFabcdef00000000000000000000000000AA')).toBe(
      '0xabcdefabcdef00000000000000000000000000aa',
    )
  })
  test.each([
    [address, '0xabc', '! hex string of odd length'],
    [address, `0X${'aB'.repeat(20)}`, `0x${'ab'.repeat(20)}`],
    [address, '0xab', '! hex string has length 2, want 40 for common.Address'],
    [address, HASH, '! hex string has length 64, want 40 for common.Address'],
    [address, ADDRESS.slice(2), '! hex string without 0x prefix'],
    [address, 7, '! json: cannot unmarshal non-string into Go value of type common.Address'],
    [address, `0x${'g'.repeat(40)}`, '! invalid hex string'],
    [hash, ADDRESS, '! hex string has length 40, want 64 for common.Hash'],
    [full, 'true', '! json: cannot unmarshal string into Go value of type bool'],
    [full, null, '! json: cannot unmarshal null into Go value of type bool'],
  ])('%# %s', (codec, value, want) => {
    expect(outcome(codec, value)).toBe(want)
  })
})

describe('storage position', () => {
  test.each([
    ['0x0', `0x${'0'.repeat(64)}`],
    ['0x', `0x${'0'.repeat(64)}`],
    ['0x00', `0x${'0'.repeat(64)}`],
    ['0xABC', `0x${'0'.repeat(61)}abc`],
    [HASH, HASH],
    [`${HASH}0`, '! hex string too long, want at most 32 bytes'],
    ['safe', '! hex string without 0x prefix'],
  ])('%s', (value, want) => {
    expect(outcome(slot, value)).toBe(want)
  })
})

describe('block parameter', () => {
  test.each([
    ['latest', 'latest'],
    ['pending', 'pending'],
    ['earliest', 'earliest'],
    ['0x64', 100],
    [100, 100],
    ['safe', '! hex string without 0x prefix'],
    ['finalized', '! hex string without 0x prefix'],
    ['100', '! hex string without 0x prefix'],
    ['Latest', '! hex string without 0x prefix'],
    ['0x064', '! hex number with leading zero digits'],
    [-1, '! block number is negative'],
    [1.5, '! block number is not an integer that JSON can carry exactly'],
    [2 ** 60, '! block number is not an integer that JSON can carry exactly'],
    ['0xffffffffffffffff', '! block number larger than int64'],
    ['0x10000000000000000', '! hex number > 64 bits'],
  ])('%s', (value, want) => {
    expect(outcome(blockNumber, value)).toBe(want)
    expect(outcome(block, value)).toBe(want)
  })
  test.each([
    [HASH, HASH],
    [{ blockHash: HASH }, HASH],
    [{ blockHash: HASH, requireCanonical: true }, HASH],
    [{ blockNumber: '0x5' }, 5],
    [{ blockNumber: 'latest' }, 'latest'],
    [
      { blockHash: HASH, blockNumber: '0x5' },
      '! cannot specify both BlockHash and BlockNumber, choose one or the other',
    ],
    [{}, '! neither blockHash nor blockNumber given'],
    [[], '! json: cannot unmarshal array into Go value of type rpc.BlockNumberOrHash'],
    [true, '! json: cannot unmarshal non-string into Go value of type hexutil.Uint64'],
  ])('%j', (value, want) => {
    expect(outcome(block, value)).toBe(want)
  })
  test('takes no hash where only a number is meant', () => {
    expect(outcome(blockNumber, HASH)).toBe('! hex number > 64 bits')
  })
})

describe('call object', () => {
  test('prefers input to data and keeps absent members apart from zeros', () => {
    const args = callObject.parse({ data: '0x01', input: '0x02', value: '0x0', from: null })
    expect(args).toMatchObject({ data: Uint8Array.of(2), value: 0n, from: undefined, gas: undefined })
    expect(callMessageFromArgs(args)).toEqual({
      from: `0x${'00'.repeat(20)}`,
      to: null,
      value: 0n,
      data: Uint8Array.of(2),
    })
  })
  test('names the member that is wrong', () => {
    expect(outcome(callObject, { from: '0x1' })).toBe('! from: hex string of odd length')
    expect(outcome(callObject, { gas: `0x${'f'.repeat(17)}` })).toBe('! gas: hex number > 64 bits')
    expect(outcome(callObject, { accessList: [{ address: ADDRESS, storageKeys: ['0x1'] }] })).toBe(
      '! accessList: storageKeys: hex string of odd length',
    )
    expect(outcome(callObject, 'x')).toBe(
      '! json: cannot unmarshal string into Go value of type ethapi.TransactionArgs',
    )
    expect(outcome(callObject, [])).toBe('! json: cannot unmarshal array into Go value of type ethapi.TransactionArgs')
  })
  test('bounds an access list', () => {
    const accessList = Array.from({ length: 10_001 }, () => ({ address: ADDRESS, storageKeys: [] }))
    expect(outcome(callObject, { accessList })).toBe('! accessList: access list too long')
  })
  test('refuses two fee styles, and a tip above the cap', () => {
    const fees = (object: object) => () => callMessageFromArgs(callObject.parse(object))
    expect(fees({ gasPrice: '0x1', maxFeePerGas: '0x1' })).toThrow(
      'both gasPrice and (maxFeePerGas or maxPriorityFeePerGas) specified',
    )
    expect(fees({ maxFeePerGas: '0x1', maxPriorityFeePerGas: '0x2' })).toThrow(
      'maxFeePerGas (1) < maxPriorityFeePerGas (2)',
    )
  })
  test('does not read inherited members', () => {
    expect(callObject.parse(JSON.parse('{"__proto__":{"value":"0x5"}}')).value).toBeUndefined()
  })
})

describe('filter', () => {
  test('makes lists of addresses and alternatives', () => {
    expect(logFilter.parse({ address: [ADDRESS, ADDRESS], topics: [null, HASH, [HASH, HASH], []] })).toMatchObject({
      addresses: [ADDRESS],
      topics: [null, [HASH], [HASH], null],
    })
  })
  test.each([
    [
      { blockHash: HASH, fromBlock: '0x1' },
      '! cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other',
    ],
    [{ address: ['0xabcdef'] }, '! invalid address at index 0: hex has invalid length 3 after decoding'],
    [{ address: [5] }, '! non-string address at index 0'],
    [{ topics: [5] }, '! invalid topic(s)'],
    [{ topics: [null, null, null, null, null] }, '! exceed max topics'],
    [{ fromBlock: 'finalized' }, '! hex string without 0x prefix'],
  ])('%j', (value, want) => {
    expect(outcome(logFilter, value)).toBe(want)
  })
})

describe('overrides', () => {
  test('keeps what is named only', () => {
    expect(stateOverrides.parse({ [ADDRESS]: { balance: '0x1', stateDiff: { '0x1': HASH } } })).toEqual({
      [ADDRESS]: { balance: 1n, stateDiff: { [`0x${'0'.repeat(63)}1`]: HASH } },
    })
    expect(blockOverrides.parse({ number: '0x5', time: '0x6' })).toEqual({ number: 5, timestamp: 6 })
    const parsed = { miner: ADDRESS, prevRandao: HASH, baseFeePerGas: 7n }
    expect(blockOverrides.parse({ feeRecipient: ADDRESS, prevRandao: HASH, baseFeePerGas: '0x7' })).toEqual(parsed)
    expect(blockOverrides.parse({ coinbase: ADDRESS, random: HASH, baseFee: '0x7' })).toEqual(parsed)
  })
  test('names the account that is wrong', () => {
    expect(outcome(stateOverrides, { [ADDRESS]: { nonce: 'x' } })).toBe(
      `! ${ADDRESS}: nonce: hex string without 0x prefix`,
    )
    expect(outcome(stateOverrides, { x: {} })).toBe('! hex string without 0x prefix')
    expect(outcome(stateOverrides, JSON.parse('{"__proto__":{"balance":"0x1"}}'))).toBe(
      '! hex string without 0x prefix',
    )
  })
})

describe('fee history arguments', () => {
  test.each([
    ['0x2', 2],
    ['20', 20],
    [4, 4],
    ['0xffff', 1_024],
    [-1, '! block count is not a whole number'],
    [1.5, '! block count is not a whole number'],
    ['x', '! hex string without 0x prefix'],
  ])('%s', (value, want) => {
    expect(outcome(blockCount, value)).toBe(want)
  })
  test('wants numbers as percentiles', () => {
    expect(outcome(percentiles, [10, 50.5])).toEqual([10, 50.5])
    expect(outcome(percentiles, ['10'])).toBe('! a percentile is not a number')
  })
})

describe('the timeout of a trace', () => {
  test.each([
    ['5s', 5_000],
    ['1m30s', 90_000],
    ['1.5ms', 1.5],
    ['0h0m0s7us', 0.007],
    ['9999h', 300_000],
  ])('%s is %d ms', (timeout, expected) => {
    expect(traceConfig.parse({ timeout }).timeoutMs).toBe(expected)
  })
  test.each(['', '5', 's', '5x', '5 s', '-5s', '1..5s', '5s5', `${'1'.repeat(40)}s`])('%j is none', timeout => {
    expect(outcome(traceConfig, { timeout })).toMatch(/^! timeout: time: invalid duration/)
  })
})
