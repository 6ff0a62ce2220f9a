import { bytesToHex, EMPTY_BYTES, type Hex, hexToBytes, toWord } from '@tandem/base/bytes.ts'
import type { CodedError } from '@tandem/base/errors.ts'
import { describe, expect, test } from 'vitest'
import { createInterpreter } from '../../../../devtools/interpreter/engine.ts'
import { keccak256Hex } from '../../../../src/crypto/hash.ts'
import type { CallMessage } from '../../../../src/evm/calls/message/call-args.ts'
import type { CallContext } from '../../../../src/evm/calls/message/call-message.ts'
import { call, createAccessList, estimateGas } from '../../../../src/evm/calls/run-call.ts'
import type { CallRequest } from '../../../../src/evm/calls/types.ts'
import type { CallError, Engine } from '../../../../src/evm/engine.ts'
import { createWasmEngine } from '../../../../src/evm/engines/wasm/wasm-engine.ts'
import { createPrefetchedReader } from '../../../../src/evm/prefetched-reader.ts'
import type { StateReader } from '../../../../src/state/state-reader.ts'
import { type CompiledContract, compileSolidity } from '../../../support/solidity.ts'
import type { MemoryState } from '../../state/memory-state.ts'
import { code, encodeCall, env, funded, GWEI, key, TOKEN, withCode } from '../world.ts'

const SOURCE = `// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;
contract Probe {
  uint256 public stored; mapping(uint256 => uint256) public slots; uint256[] list;
  error Broken(uint256 code, string why);
  function words() external pure { revert("these words"); }
  function custom() external pure { revert Broken(7, "custom"); }
  function bare() external pure { revert(); }
  function halt() external pure { assembly { invalid() } }
  function loop() external view { uint256 i; while (true) { i++; } }
  function write(uint256 n) external payable { for (uint256 i = 0; i < n; i++) slots[i] = i + 1; }
  function clear() external { slots[900] = 1; slots[900] = 0; stored = 0; }
  function keepBack(Probe other) external { other.write(3); }
  function read(Probe other, uint256 k) external view returns (uint256) { return other.slots(k) + stored; }
  function environment() external payable returns (uint256, uint256, uint256, uint256, address, uint256, uint256, bytes32, uint256) {
    return (block.number, block.timestamp, block.basefee, tx.gasprice, block.coinbase, block.gaslimit, block.prevrandao, blockhash(block.number - 1), msg.sender.balance); }
  function gasLeft() external view returns (uint256) { return gasleft(); }
  function needs(uint256 gasWanted) external { require(gasleft() > gasWanted, "gas"); stored = 1; }
}`
const { runtime, bytecode } = compileSolidity(SOURCE)['Probe'] as CompiledContract
const PROBE: Hex = `0x${'0b'.repeat(20)}`
const OTHER: Hex = `0x${'0c'.repeat(20)}`
/** Writes to a slot twice, the second time for less than it must have left. */
const SENTRY: Hex = `0x${'51'.repeat(20)}`
/** Calls CREATES, then hashes. */
const CHAIN: Hex = `0x${'52'.repeat(20)}`
/** Pays 1 wei to itself, which hashes. */
const PAYS: Hex = `0x${'53'.repeat(20)}`
/** Creates an account with a byte of code. */
const CREATES: Hex = `0x${'54'.repeat(20)}`
/** Calls an invalid opcode with 5,000 gas. */
const TRIES: Hex = `0x${'55'.repeat(20)}`
const INVALID: Hex = `0x${'56'.repeat(20)}`
const rich = key(1)
const poor = key(2)

const world = (): MemoryState => {
  const state = withCode(withCode(funded([rich]), PROBE, runtime), OTHER, runtime)
  state.accounts.get(OTHER)?.storage.set(toWord(5n), toWord(6n))
  const calling = (to: Hex, gas: string) => `5f5f5f5f5f73${to.slice(2)}${gas}f150`
  const programs: readonly (readonly [Hex, string])[] = [
    [SENTRY, '60015f5560025f55'],
    [CHAIN, `${calling(CREATES, '5a')}${'6103e85f2050'.repeat(3)}`],
    [PAYS, '34600f575f5f5f5f6001305af150005b6103e85f205000'],
    [CREATES, '6360015ff35f526004601c5ff050'],
    [TRIES, calling(INVALID, '611388')],
    [INVALID, 'fe'],
  ]
  for (const [at, program] of programs) withCode(state, at, hexToBytes(`0x${program}`), 10n)
  return state
}

const engine = createInterpreter()
const wasm = createWasmEngine(() => engine)
const context = (reader: StateReader = world(), more: Partial<CallContext> = {}): CallContext => ({
  reader,
  prefetch: undefined,
  env: env(),
  engine,
  interrupt: undefined,
  ...more,
})
const request = (message: Partial<CallMessage>, more: Partial<CallRequest> = {}): CallRequest => ({
  number: 1_000,
  message: { from: rich.address, to: PROBE, value: 0n, data: EMPTY_BYTES, ...message },
  ...more,
})
const detailOf = async (promise: Promise<unknown>): Promise<CallError> =>
  promise.then(
    () => expect.unreachable('the call fails'),
    (error: CodedError<CallError>) => error.detail,
  )
const words = (bytes: Uint8Array): bigint[] =>
  Array.from({ length: bytes.byteLength / 32 }, (_, i) => BigInt(bytesToHex(bytes.subarray(i * 32, i * 32 + 32))))

describe('call', () => {
  test('answers the output and the gas used', async () => {
    const { output, gasUsed } = await call(context(), request({ data: encodeCall('stored()') }))
    expect(words(output)).toEqual([0n])
    expect(gasUsed).toBeGreaterThan(21_400n)
  })

  test('sees its block', async () => {
    const { output } = await call(context(), request({ data: encodeCall('environment()'), gasPrice: 30n * GWEI }))
    const block = env()
    expect(words(output)).toEqual([
      1_000n,
      BigInt(block.timestamp),
      25n * GWEI,
      30n * GWEI,
      BigInt(block.miner),
      999_999_999_999n,
      BigInt(block.prevRandao),
      BigInt(block.blockHash(999)),
      1_000_000n * TOKEN,
    ])
  })

  test.each([
    ['no price', {}, [0n, 0n]],
    ['a price of nothing', { gasPrice: 0n }, [0n, 0n]],
    ['a fee cap of nothing', { maxFeePerGas: 0n }, [0n, 0n]],
    ['a fee cap', { maxFeePerGas: 40n * GWEI, maxPriorityFeePerGas: GWEI }, [25n * GWEI, 26n * GWEI]],
    ['a price below the base fee', { gasPrice: 1n }, [25n * GWEI, 1n]],
  ])('with %s, the base fee and the price it sees', async (_, fees, want) => {
    const { output } = await call(context(), request({ data: encodeCall('environment()'), ...fees }))
    expect(words(output).slice(2, 4)).toEqual(want)
  })

  test('sees the overridden block', async () => {
    const blockOverrides = {
      number: 7,
      timestamp: 8,
      baseFeePerGas: 9n,
      gasLimit: 10n,
      miner: OTHER,
      prevRandao: toWord(11n),
    }
    const { output } = await call(context(), request({ data: encodeCall('environment()') }, { blockOverrides }))
    expect(words(output).slice(0, 7)).toEqual([7n, 8n, 9n, 9n, BigInt(OTHER), 10n, 11n])
  })

  test('a sender without a token may call, at any price', async () => {
    const message = { from: poor.address, data: encodeCall('stored()'), maxFeePerGas: 10n ** 30n, gas: 90_000_000n }
    await expect(call(context(), request(message))).resolves.toBeDefined()
  })

  test('a value above the balance is refused', async () => {
    const detail = await detailOf(call(context(), request({ from: poor.address, value: 1n, gas: 50_000n })))
    expect(detail).toEqual({ code: 'INSUFFICIENT_BALANCE_FOR_TRANSFER', have: 0n, want: 1n })
  })

  test('revert data comes through: words, custom errors, none', async () => {
    const of = async (signature: string) => {
      const detail = await detailOf(call(context(), request({ data: encodeCall(signature) })))
      if (detail.code !== 'EXECUTION_REVERTED') return expect.unreachable(detail.code)
      return bytesToHex(detail.data)
    }
    expect(await of('words()')).toBe(
      `0x08c379a0${toWord(32n).slice(2)}${toWord(11n).slice(2)}${Buffer.from('these words').toString('hex').padEnd(64, '0')}`,
    )
    expect((await of('custom()')).slice(0, 10)).toBe(bytesToHex(encodeCall('Broken(uint256,string)')))
    expect(await of('bare()')).toBe('0x')
  })

  test('an invalid opcode and too little gas are failures with a reason', async () => {
    expect(await detailOf(call(context(), request({ data: encodeCall('halt()') })))).toEqual({
      code: 'EXECUTION_FAILED',
      reason: 'invalid opcode',
    })
    expect(
      await detailOf(call(context(), request({ data: encodeCall('write(uint256)', 100n), gas: 60_000n }))),
    ).toEqual({
      code: 'EXECUTION_FAILED',
      reason: 'out of gas',
    })
  })

  test('a limit below the intrinsic gas names both figures', async () => {
    const detail = await detailOf(call(context(), request({ data: encodeCall('stored()'), gas: 21_399n })))
    expect(detail).toEqual({ code: 'INTRINSIC_GAS_TOO_LOW', have: 21_399n, want: 21_400n })
  })

  test('the gas of a call is capped', async () => {
    const { output } = await call(context(), request({ data: encodeCall('gasLeft()'), gas: 10n ** 12n }))
    const [left] = words(output) as [bigint]
    expect(left).toBeGreaterThan(99_000_000n)
    expect(left).toBeLessThan(100_000_000n)
  })

  test('a creation answers the code it would leave', async () => {
    const { output } = await call(context(), request({ to: null, data: bytecode }))
    expect(bytesToHex(output)).toBe(bytesToHex(runtime))
  })

  test('a precompile can be called', async () => {
    const to: Hex = `0x${'0'.repeat(39)}4`
    const { output } = await call(context(), request({ to, data: hexToBytes('0x0102') }))
    expect(bytesToHex(output)).toBe('0x0102')
  })

  test('nothing is left behind', async () => {
    const state = world()
    const before = state.plain()
    await call(context(state), request({ data: encodeCall('write(uint256)', 3n) }))
    expect(state.plain()).toEqual(before)
  })

  test('an endless loop is interrupted', async () => {
    let asked = 0
    const interrupt = { sliceMs: 1, shouldStop: () => ++asked === 3 }
    const error = await call(context(world(), { interrupt }), request({ data: encodeCall('loop()') })).catch(e => e)
    expect(error.code).toBe('EXECUTION_INTERRUPTED')
    expect(asked).toBe(3)
  })
})

describe('overrides', () => {
  const at = (overrides: CallRequest['overrides'], message: Partial<CallMessage>) =>
    call(context(), request(message, { overrides: overrides ?? {} }))

  test('balance, code and nonce', async () => {
    const echo = code(0x30, 0x31, 0x5f, 0x52, 0x60, '20', 0x5f, 0xf3)
    const { output } = await at({ [poor.address]: { balance: 77n, code: echo, nonce: 5 } }, { to: poor.address })
    expect(words(output)).toEqual([77n])
  })

  test('stateDiff keeps the other slots, state does not', async () => {
    const slot = (n: bigint) => toWord(n)
    const read = code(0x5f, 0x54, 0x60, '05', 0x54, 0x01, 0x5f, 0x52, 0x60, '20', 0x5f, 0xf3)
    const words0 = { [slot(0n)]: toWord(100n) }
    expect(words((await at({ [OTHER]: { code: read, stateDiff: words0 } }, { to: OTHER })).output)).toEqual([106n])
    expect(words((await at({ [OTHER]: { code: read, state: words0 } }, { to: OTHER })).output)).toEqual([100n])
  })

  test('state and stateDiff together are refused', async () => {
    const detail = await detailOf(at({ [OTHER]: { state: {}, stateDiff: {} } }, {}))
    expect(detail).toEqual({ code: 'OVERRIDE_CONFLICT', address: OTHER })
  })

  test('an overridden balance pays for a value', async () => {
    await expect(
      at(
        { [poor.address]: { balance: 5n } },
        { from: poor.address, to: OTHER, value: 5n, data: encodeCall('write(uint256)', 0n) },
      ),
    ).resolves.toBeDefined()
  })
})

describe.each([engine, wasm])('estimateGas on $name', engine => {
  const estimate = (message: Partial<CallMessage>) => estimateGas(context(undefined, { engine }), request(message))

  test('a plain transfer is 21,000, with data or a list what these cost', async () => {
    expect(await estimate({ to: poor.address, value: 1n })).toBe(21_000n)
    expect(await estimate({ to: poor.address, data: new Uint8Array(10) })).toBe(22_000n)
    expect(await estimate({ to: poor.address, accessList: [{ address: OTHER, storageKeys: [toWord(1n)] }] })).toBe(
      25_300n,
    )
  })

  test.each([
    ['write(uint256)', [3n]],
    ['clear()', []],
    ['keepBack(address)', [BigInt(OTHER)]],
    ['needs(uint256)', [200_000n]],
    ['stored()', []],
  ] as const)('%s: the answer works, one unit less does not', async (signature, args) => {
    const data = encodeCall(signature, ...args)
    const gas = await estimate({ data })
    await expect(call(context(), request({ data, gas }))).resolves.toBeDefined()
    await expect(call(context(), request({ data, gas: gas - 1n }))).rejects.toThrow()
  })

  test('a creation', async () => {
    const gas = await estimate({ to: null, data: bytecode })
    await expect(call(context(), request({ to: null, data: bytecode, gas }))).resolves.toBeDefined()
    await expect(call(context(), request({ to: null, data: bytecode, gas: gas - 1n }))).rejects.toThrow()
  })

  test('a sender that cannot pay value or gas', async () => {
    const value = { from: poor.address, to: rich.address, value: 1n }
    expect(await detailOf(estimate(value))).toEqual({ code: 'INSUFFICIENT_BALANCE_FOR_TRANSFER', have: 0n, want: 1n })
    expect(await detailOf(estimate({ ...value, value: 0n, gasPrice: 25n * GWEI }))).toEqual({
      code: 'INSUFFICIENT_BALANCE_FOR_TRANSFER',
      have: 0n,
      want: 21_000n * 25n * GWEI,
    })
    expect(await estimate({ ...value, value: 0n })).toBe(21_000n)
  })

  test('a given limit is the allowance', async () => {
    const data = encodeCall('write(uint256)', 10n)
    expect(await detailOf(estimate({ data, gas: 60_000n }))).toEqual({
      code: 'GAS_REQUIRED_EXCEEDS_ALLOWANCE',
      allowance: 60_000n,
    })
  })

  test('a message that reverts whatever its gas', async () => {
    expect((await detailOf(estimate({ data: encodeCall('custom()') }))).code).toBe('EXECUTION_REVERTED')
    expect((await detailOf(estimate({ data: encodeCall('halt()') }))).code).toBe('EXECUTION_FAILED')
  })
})

describe('estimates by the exact gas of a run', () => {
  /** Estimate, and number of runs it took. */
  const counted = async (message: Partial<CallMessage>) => {
    let runs = 0
    const counting: Engine = {
      name: 'counting',
      run(...args) {
        runs++
        return wasm.run(...args)
      },
    }
    return { gas: await estimateGas(context(undefined, { engine: counting }), request(message)), runs }
  }

  test('gives way between its runs, each of which may be shorter than a slice', async () => {
    let turns = 0
    const giveWay = async () => {
      turns++
    }
    const interrupt = { sliceMs: 0, giveWay, shouldStop: () => turns > 20 }
    const searching = estimateGas(
      context(undefined, { engine: wasm, interrupt }),
      request({ data: encodeCall('needs(uint256)', 200_000n) }),
    )
    await expect(searching).rejects.toMatchObject({ code: 'EXECUTION_INTERRUPTED' })
  })

  test.each([
    ['plain code', { data: encodeCall('stored()') }, 2],
    ['refunds', { data: encodeCall('clear()') }, 3],
    ['a write near the end, which needs more than it costs', { to: SENTRY, data: EMPTY_BYTES }, 3],
    ['an inner call, which gets all but a 64th', { data: encodeCall('keepBack(address)', BigInt(OTHER)) }, 3],
    ['a chain of inner calls with gas kept for later', { to: CHAIN, data: EMPTY_BYTES }, 3],
    ['an inner call with a value, which gets a stipend', { to: PAYS, data: EMPTY_BYTES }, 3],
    ['an inner creation', { to: CREATES, data: EMPTY_BYTES }, 3],
    ['a creation', { to: null, data: bytecode }, 2],
  ])('%s', async (_, message, most) => {
    const { gas, runs } = await counted(message)
    expect(runs).toBeLessThanOrEqual(most)
    expect(gas).toBe(await estimateGas(context(), request(message)))
  })

  test.each([
    ['gas that code reads', { data: encodeCall('needs(uint256)', 200_000n) }],
    ['a failing inner call', { to: TRIES, data: EMPTY_BYTES }],
  ])('%s is searched', async (_, message) => {
    expect((await counted(message)).gas).toBe(await estimateGas(context(), request(message)))
  })
})

describe('createAccessList', () => {
  const find = (message: Partial<CallMessage>) => createAccessList(context(), request(message))

  test('names foreign accounts and all slots, neither sender, recipient nor precompiles', async () => {
    const { accessList, error } = await find({ data: encodeCall('read(address,uint256)', OTHER, 5n) })
    const slot5 = keccak256Hex(hexToBytes(`${toWord(5n)}${toWord(1n).slice(2)}` as Hex))
    expect(error).toBeUndefined()
    expect(accessList).toEqual([
      { address: PROBE, storageKeys: [toWord(0n)] },
      { address: OTHER, storageKeys: [slot5] },
    ])
  })

  test('the gas is that of the message with the list', async () => {
    const data = encodeCall('read(address,uint256)', OTHER, 5n)
    const { accessList, gasUsed } = await find({ data })
    expect((await call(context(), request({ data, accessList }))).gasUsed).toBe(gasUsed)
    expect((await find({ data, accessList })).accessList).toEqual(accessList)
  })

  test('a plain transfer has an empty one', async () => {
    expect(await find({ to: poor.address, value: 10n })).toEqual({ accessList: [], gasUsed: 21_000n })
  })

  test('a failing message says why', async () => {
    expect((await find({ data: encodeCall('words()') })).error).toBe('execution reverted')
  })
})

test('a state that is read with promises gives the same answers', async () => {
  const state = world()
  const slow = async <T>(value: T): Promise<T> => value
  const source = {
    account: (address: Hex) => slow(state.account(address)),
    storage: (address: Hex, slot: Hex) => slow(state.storage(address, slot)),
    code: (address: Hex) => slow(state.code(address)),
    release: () => {},
  }
  const later = () => context(undefined, createPrefetchedReader(source))
  const message = { data: encodeCall('read(address,uint256)', OTHER, 5n) }
  expect(await call(later(), request(message))).toEqual(await call(context(), request(message)))
  expect(await createAccessList(later(), request(message))).toEqual(await createAccessList(context(), request(message)))
  const writing = { data: encodeCall('keepBack(address)', OTHER), value: 0n }
  expect(await estimateGas(later(), request(writing))).toBe(await estimateGas(context(), request(writing)))
  const create = { to: null, data: bytecode }
  expect(await estimateGas(later(), request(create))).toBe(await estimateGas(context(), request(create)))
  const overrides = { [OTHER]: { balance: 1n, stateDiff: { [toWord(9n)]: toWord(1n) } }, [poor.address]: { state: {} } }
  expect(await call(later(), request(message, { overrides }))).toEqual(
    await call(context(), request(message, { overrides })),
  )
})
