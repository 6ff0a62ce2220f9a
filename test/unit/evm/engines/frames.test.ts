import { EMPTY_BYTES, type Hex } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import { createInterpreter } from '../../../../devtools/interpreter/engine.ts'
import { Journal } from '../../../../src/state/journal/journal.ts'
import { code, env, funded, key, withCode } from '../world.ts'

/*
 * Counts what built-in collections copy and walk through while something runs: a measure of work without a clock. Bytes count as
 * 32-byte words. Patches prototypes for the time of the run, so nothing else may run beside it.
 */

type Method = (this: { readonly length?: number; readonly size?: number }, ...args: never[]) => unknown

interface Patched {
  readonly prototype: object
  readonly name: string | symbol
  /** Items that one call goes through. */
  items(self: never, args: readonly never[]): number
}

const sizeOf = (self: { size: number }): number => self.size
type Sized = { readonly length: number }
const lengthOf = (self: Sized): number => self.length
const typedArray = Object.getPrototypeOf(Uint8Array.prototype) as object
const words = (bytes: number): number => bytes / 32

const PATCHED: readonly Patched[] = [
  { prototype: Map.prototype, name: Symbol.iterator, items: sizeOf },
  { prototype: Map.prototype, name: 'keys', items: sizeOf },
  { prototype: Map.prototype, name: 'values', items: sizeOf },
  { prototype: Map.prototype, name: 'forEach', items: sizeOf },
  { prototype: Set.prototype, name: Symbol.iterator, items: sizeOf },
  { prototype: Set.prototype, name: 'forEach', items: sizeOf },
  { prototype: Array.prototype, name: Symbol.iterator, items: lengthOf },
  { prototype: Array.prototype, name: 'concat', items: lengthOf },
  { prototype: Array.prototype, name: 'slice', items: lengthOf },
  { prototype: Array.prototype, name: 'splice', items: (self: unknown[], [from = 0]) => self.length - from },
  { prototype: Array.prototype, name: 'map', items: lengthOf },
  { prototype: Array.prototype, name: 'filter', items: lengthOf },
  { prototype: Array.prototype, name: 'fill', items: lengthOf },
  { prototype: typedArray, name: 'set', items: (_, [source]) => words(lengthOf(source as unknown as Sized)) },
  { prototype: typedArray, name: 'slice', items: (self: Sized) => words(self.length) },
  { prototype: typedArray, name: 'fill', items: (self: Sized) => words(self.length) },
]

/** Items that were copied or walked through until the promise was kept. */
const countWork = async (run: () => Promise<unknown>): Promise<number> => {
  let work = 0
  const originals = PATCHED.map(({ prototype, name, items }) => {
    const original = Reflect.get(prototype, name) as Method
    const counting: Method = function (...args) {
      work += items(this as never, args)
      return original.apply(this, args)
    }
    Reflect.set(prototype, name, counting)
    return { prototype, name, original }
  })
  try {
    await run()
  } finally {
    for (const { prototype, name, original } of originals) Reflect.set(prototype, name, original)
  }
  return Math.round(work)
}

const sender = key(1)
const [CONTRACT, STOP, FAILS]: readonly Hex[] = [`0x${'c0'.repeat(20)}`, `0x${'57'.repeat(20)}`, `0x${'fa'.repeat(20)}`]
const engine = createInterpreter()

const run = (body: Uint8Array, gas: bigint) => {
  const state = withCode(funded([sender]), CONTRACT as Hex, body, 10n ** 18n)
  withCode(state, STOP as Hex, code(0x00))
  withCode(state, FAILS as Hex, code(0x5f, 0x5f, 0xa0, 0x5f, 0x5f, 0xfd))
  const message = { from: sender.address, to: CONTRACT as Hex, value: 0n, data: EMPTY_BYTES, gas }
  return engine.run(new Journal(state), env(), { ...message, gasPrice: 0n, accessList: [] })
}

/** Repeats `first` until half of the gas is gone, then `second` until a little is left. */
const twoLoops = (gas: bigint, first: string, second: string): Uint8Array => {
  const half = (gas / 2n).toString(16).padStart(8, '0')
  const head = `5b${first}63${half}5a116000` // JUMPDEST first PUSH4 half GAS GT PUSH1 0
  const start = head.length / 2 + 1
  const label = start.toString(16).padStart(4, '0')
  return code(`${head}57`, `5b${second}620186a05a1161${label}5700`)
}

/** CALL(gas, who, ...zeros), the answer dropped. */
const calling = (op: number, who: Hex, zeros: number): string =>
  `${'5f'.repeat(zeros)}73${who.slice(2)}5a${op.toString(16)}50`
const LOG = '5f5fa0'
const STATICCALL = calling(0xfa, STOP as Hex, 4)
const CALL = calling(0xf1, STOP as Hex, 5)
const FAILING = calling(0xf1, FAILS as Hex, 5)
const CREATE = '5f5f5ff050'
/** CREATE of `SELFDESTRUCT(0)`. */
const CREATE_DESTROYED = '615fff5f526002601e5ff050'

describe('the work of frames grows with their gas', () => {
  test.each([
    ['logs, then calls', LOG, STATICCALL],
    ['logs, then calls that may write', LOG, CALL],
    ['logs, then calls that fail', LOG, FAILING],
    ['logs, then creations', LOG, CREATE],
    ['creations, then calls', CREATE, STATICCALL],
    ['creations', CREATE, CREATE],
    ['self-destructs, then calls', CREATE_DESTROYED, CALL],
    ['transient words, then calls that fail', '60015a5d', FAILING],
    ['stored words, then calls that fail', '60015a55', FAILING],
    ['cold reads, then calls that fail', '5a5450', FAILING],
  ])('%s', async (_, first, second) => {
    const work = (gas: bigint) =>
      countWork(async () => {
        const { failure, gasUsed } = await run(twoLoops(gas, first, second), gas)
        expect(failure).toBeNull()
        expect(gasUsed).toBeGreaterThan(gas / 2n)
      })
    const [small, large] = [await work(1_000_000n), await work(4_000_000n)]
    expect(large / small).toBeLessThan(6)
  })
})
