import { bytesToBigint, EMPTY_BYTES, type Hex } from '@tandem/base/bytes.ts'
import { nextNonce } from '@tandem/base/uint64.ts'
import { describe, expect, test } from 'vitest'
import { createInterpreter } from '../../../../devtools/interpreter/engine.ts'
import { Journal } from '../../../../src/state/journal/journal.ts'
import type { MemoryState } from '../../state/memory-state.ts'
import { code, env, funded, key, withCode } from '../world.ts'

const sender = key(1)
const address = (byte: string): Hex => `0x${byte.repeat(20)}`
const [OUTER, INNER, PAYEE] = [address('0a'), address('0b'), address('0c')]
const engine = createInterpreter()

const push = (who: Hex): string => `73${who.slice(2)}`
/** op(gas, who, [value], 0, 0, 0, 0), the answer dropped. */
const callWith = (op: number, who: Hex, wei?: string): Uint8Array =>
  code(0x5f, 0x5f, 0x5f, 0x5f, ...(wei === undefined ? [] : [0x60, wei]), push(who), 0x5a, op, 0x50)
const CALL = 0xf1
const CALLCODE = 0xf2
const DELEGATECALL = 0xf4
const LOG = code(0x5f, 0x5f, 0xa0)
const REVERT = code(0x5f, 0x5f, 0xfd)
const join = (...parts: readonly Uint8Array[]): Uint8Array => Buffer.concat(parts)

const world = (outer: Uint8Array, inner: Uint8Array = EMPTY_BYTES): MemoryState =>
  withCode(withCode(funded([sender]), OUTER, outer, 1_000n), INNER, inner, 50n)

const run = (state: MemoryState, message: { to?: Hex | null; value?: bigint } = {}) => {
  const journal = new Journal(state)
  journal.setNonce(sender.address, nextNonce(journal.nonce(sender.address)))
  return engine.run(
    journal,
    env(),
    {
      from: sender.address,
      to: OUTER,
      value: 0n,
      data: EMPTY_BYTES,
      gas: 1_000_000n,
      gasPrice: 0n,
      accessList: [],
      ...message,
    },
    { transfers: true },
  )
}

/** Transfers as [from, to, wei], other logs as the address that made them. */
const seen = async (state: MemoryState, message?: Parameters<typeof run>[1]) => {
  const { tracedLogs = [], logs } = await run(state, message)
  expect(logs).toEqual(tracedLogs.filter(log => log.topics.length === 0))
  return tracedLogs.map(log =>
    log.topics.length === 0
      ? log.address
      : [log.address, ...log.topics.slice(1).map(topic => `0x${topic.slice(26)}`), bytesToBigint(log.data)],
  )
}
const transfer = (from: Hex, to: Hex, wei: bigint) => [address('ee'), from, to, wei]

describe('transfers as logs (ERC-7528)', () => {
  test('stand before the logs of the frame that received them', async () => {
    const logs = await seen(world(join(LOG, callWith(CALL, INNER, '07'), LOG), LOG), { value: 5n })
    expect(logs).toEqual([transfer(sender.address, OUTER, 5n), OUTER, transfer(OUTER, INNER, 7n), INNER, OUTER])
  })

  test('go with a frame that fails', async () => {
    const failing = join(callWith(CALL, PAYEE, '03'), LOG, REVERT)
    expect(await seen(world(callWith(CALL, INNER, '07'), failing))).toEqual([])
  })

  test('include accounts without code, and a call to oneself', async () => {
    const logs = await seen(world(join(callWith(CALL, PAYEE, '03'), callWith(CALL, OUTER, '02'))))
    // The inner run of the same code finds a balance and pays as well, as deep as gas goes: only the first is looked at.
    expect(logs[0]).toEqual(transfer(OUTER, PAYEE, 3n))
    expect(logs).toContainEqual(transfer(OUTER, OUTER, 2n))
  })

  test.each([
    ['CALLCODE', callWith(CALLCODE, INNER, '07')],
    ['DELEGATECALL', callWith(DELEGATECALL, INNER)],
  ])('%s moves nothing', async (_, outer) => {
    expect(await seen(world(outer, LOG), { value: 5n })).toEqual([transfer(sender.address, OUTER, 5n), OUTER])
  })

  test('include what SELFDESTRUCT sends', async () => {
    expect(await seen(world(callWith(CALL, INNER, '07'), code(push(PAYEE), 0xff)))).toEqual([
      transfer(OUTER, INNER, 7n),
      transfer(INNER, PAYEE, 57n),
    ])
  })

  test('include endowments', async () => {
    // CREATE(value 9, no code), then the creation of the transaction itself.
    const result = await run(world(code(0x5f, 0x5f, 0x60, '09', 0xf0, 0x50)))
    expect(result.tracedLogs?.map(log => bytesToBigint(log.data))).toEqual([9n])
    const creation = await run(world(EMPTY_BYTES), { to: null, value: 4n })
    expect(creation.tracedLogs?.[0]?.topics[2]?.slice(26)).toBe(creation.created?.slice(2))
  })

  test('a log that code makes at the same address is no transfer', async () => {
    const state = withCode(funded([sender]), address('ee'), LOG)
    const { logs } = await run(state, { to: address('ee'), value: 1n })
    expect(logs.map(log => log.address)).toEqual([address('ee')])
  })
})
