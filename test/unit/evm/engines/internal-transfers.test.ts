import { EMPTY_BYTES, type Hex } from '@tandem/base/bytes.ts'
import { nextNonce } from '@tandem/base/uint64.ts'
import { describe, expect, test } from 'vitest'
import { createInterpreter } from '../../../../devtools/interpreter/engine.ts'
import { createWasmEngine } from '../../../../src/evm/engines/wasm/wasm-engine.ts'
import { createAddress } from '../../../../src/primitives/receipt/address.ts'
import { Journal } from '../../../../src/state/journal/journal.ts'
import type { MemoryState } from '../../state/memory-state.ts'
import { code, env, funded, key, withCode } from '../world.ts'

const sender = key(1)
const address = (byte: string): Hex => `0x${byte.repeat(20)}`
const [OUTER, INNER, PAYEE] = [address('0a'), address('0b'), address('0c')]
const never = () => {
  throw new Error('the message is run by the engine itself')
}
const ENGINES = [
  ['interpreter', createInterpreter()],
  ['WebAssembly', createWasmEngine(never)],
] as const

const push = (who: Hex): string => `73${who.slice(2)}`
/** op(all gas but a little, who, [value], 0, 0, 0, 0), the answer dropped. */
const callWith = (op: number, who: Hex, wei?: string): Uint8Array =>
  code(0x5f, 0x5f, 0x5f, 0x5f, ...(wei === undefined ? [] : [0x60, wei]), push(who), 0x5a, op, 0x50)
const CALL = 0xf1
const LOG = code(0x5f, 0x5f, 0xa0)
const REVERT = code(0x5f, 0x5f, 0xfd)
const join = (...parts: readonly Uint8Array[]): Uint8Array => Buffer.concat(parts)
const world = (outer: Uint8Array, inner: Uint8Array = EMPTY_BYTES): MemoryState =>
  withCode(withCode(funded([sender]), OUTER, outer, 1_000n), INNER, inner, 50n)

describe.each(ENGINES)('internal transfers of the %s engine', (_, engine) => {
  const run = async (state: MemoryState, message: { to?: Hex | null; value?: bigint; data?: Uint8Array } = {}) => {
    const journal = new Journal(state)
    journal.setNonce(sender.address, nextNonce(journal.nonce(sender.address)))
    const base = { from: sender.address, to: OUTER, value: 0n, data: EMPTY_BYTES, gas: 1_000_000n, gasPrice: 0n }
    return engine.run(journal, env(), { ...base, accessList: [], ...message })
  }

  test('are calls with wei, in order; the message itself is none, and logs stay as they are', async () => {
    const { internal, logs } = await run(world(join(LOG, callWith(CALL, INNER, '07'), LOG), LOG), { value: 5n })
    expect(internal).toEqual([{ kind: 'call', from: OUTER, to: INNER, value: 7n }])
    expect(logs.map(log => log.address)).toEqual([OUTER, INNER, OUTER])
  })

  test('go with a frame that fails, and only those of that frame', async () => {
    const failing = join(callWith(CALL, PAYEE, '03'), REVERT)
    const { internal } = await run(world(join(callWith(CALL, PAYEE, '02'), callWith(CALL, INNER, '07')), failing))
    expect(internal).toEqual([{ kind: 'call', from: OUTER, to: PAYEE, value: 2n }])
    const reverted = await run(world(join(callWith(CALL, PAYEE, '02'), REVERT)))
    expect(reverted.internal).toEqual([])
  })

  test.each([
    ['a call without wei', callWith(CALL, INNER, '00')],
    ['a call that the balance does not cover', code(0x5f, 0x5f, 0x5f, 0x5f, 0x62, '0fffff', push(INNER), 0x5a, CALL)],
    ['CALLCODE', callWith(0xf2, INNER, '07')],
    ['DELEGATECALL', callWith(0xf4, INNER)],
    ['STATICCALL', callWith(0xfa, INNER)],
  ])('leave out %s', async (_name, outer) => {
    expect((await run(world(outer, LOG), { value: 5n })).internal).toEqual([])
  })

  test('include precompiles, self-destructs, and none that a self-destruct leaves where it was', async () => {
    const identity = address('00').slice(0, -2).concat('04') as Hex
    expect((await run(world(callWith(CALL, identity, '01')))).internal).toEqual([
      { kind: 'call', from: OUTER, to: identity, value: 1n },
    ])
    expect((await run(world(callWith(CALL, INNER, '07'), code(push(PAYEE), 0xff)))).internal).toEqual([
      { kind: 'call', from: OUTER, to: INNER, value: 7n },
      { kind: 'selfdestruct', from: INNER, to: PAYEE, value: 57n },
    ])
    expect((await run(world(callWith(CALL, INNER), code(push(INNER), 0xff)))).internal).toEqual([])
  })

  test('include contracts that code creates, with and without wei, but not one that fails', async () => {
    const create = (wei: string): Uint8Array => code(0x5f, 0x5f, 0x60, wei, 0xf0, 0x50)
    const created = createAddress(OUTER, 1)
    expect((await run(world(create('09')))).internal).toEqual([{ kind: 'create', from: OUTER, to: created, value: 9n }])
    expect((await run(world(create('00')))).internal).toEqual([{ kind: 'create', from: OUTER, to: created, value: 0n }])
    // The init code is the byte of an invalid opcode.
    const failing = code(0x60, 'fe', 0x5f, 0x53, 0x60, '01', 0x5f, 0x60, '09', 0xf0, 0x50)
    expect((await run(world(failing))).internal).toEqual([])
    const own = await run(world(EMPTY_BYTES), { to: null, value: 4n })
    expect(own.internal).toEqual([])
  })
})
