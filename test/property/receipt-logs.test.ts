import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createInterpreter } from '../../devtools/interpreter/engine.ts'
import type { EngineMessage } from '../../src/evm/engine.ts'
import { createWasmEngine } from '../../src/evm/engines/wasm/wasm-engine.ts'
import { bloomFromLogs } from '../../src/primitives/receipt/bloom.ts'
import { digestOf, encodeLogs, type Log } from '../../src/primitives/receipt/log.ts'
import { Journal } from '../../src/state/journal/journal.ts'
import { env, funded, key, paramsAt, withCode } from '../unit/evm/world.ts'

const sender = key(1)
const CONTRACTS: readonly Hex[] = [`0x${'ab'.repeat(20)}`, `0x${'cd'.repeat(20)}`]
/** Emits what its input says: a byte for the number of topics, 32 bytes for each, the rest as data. */
const EMITTER: Hex = `0x${'ee'.repeat(20)}`

const hexOf = (value: number, bytes: number): string => value.toString(16).padStart(bytes * 2, '0')
const push = (value: string): string => `${(0x5f + value.length / 2).toString(16)}${value}`

/** Code of a contract that emits one log, and calls the next contract. */
const emitting = ({ topics, data }: { topics: readonly string[]; data: Uint8Array }): string => {
  const stored = [...data].map((byte, at) => `${push(hexOf(byte, 1))}${push(hexOf(at, 2))}53`).join('')
  const pushed = topics.toReversed().map(push).join('')
  return `${stored}${pushed}${push(hexOf(data.byteLength, 2))}5f${(0xa0 + topics.length).toString(16)}`
}

const topic = fc.oneof(
  fc.constantFrom('00'.repeat(32), '11'.repeat(32), `${'00'.repeat(31)}01`),
  fc.uint8Array({ minLength: 32, maxLength: 32 }).map(bytes => Buffer.from(bytes).toString('hex')),
)
/** Sizes on both sides of each form of an RLP prefix. */
const data = fc.oneof(
  fc
    .constantFrom(0, 1, 2, 55, 56, 57, 255, 256, 257)
    .chain(size => fc.uint8Array({ minLength: size, maxLength: size })),
  fc.constantFrom(Uint8Array.of(0x7f), Uint8Array.of(0x80), Uint8Array.of(0)),
)
const log = fc.record({ topics: fc.array(topic, { maxLength: 4 }), data, by: fc.nat(1) })

const plain = (logs: readonly Log[]): readonly Log[] => [...logs]

test('bloom and encoding of logs from the module are those of the plain functions', async () => {
  let digests = 0
  await fc.assert(
    fc.asyncProperty(fc.array(log, { minLength: 0, maxLength: 24 }), async list => {
      const state = funded([sender])
      const codes = list.map(emitting)
      // Calls of the second one move a wei, so that internal transfers stand between the logs. Two contracts that run the code of the emitters by DELEGATECALL, so that logs of both follow each other.
      const helpers = codes.map((_, i): Hex => `0x${hexOf(0xe000 + i, 20)}`)
      for (const [i, code] of codes.entries()) withCode(state, helpers[i] as Hex, hexToBytes(`0x${code}`))
      const delegating = '5f5f5f5f5f355af4'
      for (const contract of CONTRACTS) withCode(state, contract, hexToBytes(`0x${delegating}`))
      const calls = list.map(
        ({ by }, i) =>
          `73${(helpers[i] as Hex).slice(2)}5f525f5f60205f600${by}73${(CONTRACTS[by] as Hex).slice(2)}5af150`,
      )
      withCode(state, EMITTER, hexToBytes(`0x${calls.join('')}`), 1_000n)
      const engine = createWasmEngine(createInterpreter)
      const message: EngineMessage = {
        from: sender.address,
        to: EMITTER,
        value: 0n,
        data: new Uint8Array(0),
        gas: 30_000_000n,
        gasPrice: 1n,
        accessList: [],
      }
      const { logs, failure, internal } = await engine.run(
        new Journal(state),
        env({ params: paramsAt('cancun') }),
        message,
      )
      expect(failure).toBeNull()
      expect(logs.map(({ topics }) => topics)).toEqual(list.map(({ topics }) => topics.map(hex => `0x${hex}`)))
      expect(logs.map(({ address }) => address)).toEqual(list.map(({ by }) => CONTRACTS[by]))
      expect(internal).toHaveLength(list.filter(({ by }) => by === 1).length)
      const digest = digestOf(logs)
      if (digest !== undefined) digests++
      expect(bloomFromLogs(logs)).toEqual(bloomFromLogs(plain(logs)))
      expect(Buffer.compare(encodeLogs(logs), encodeLogs(plain(logs)))).toBe(0)
    }),
    { seed: Number(process.env['SEED'] ?? 20250217), numRuns: Number(process.env['CASES'] ?? 150) },
  )
  expect(digests).toBeGreaterThan(30)
}, 60_000)
