import { bytesToHex, type Hex, hexToBytes, toWord, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import { TRACE_LIMITS } from '../../../../src/config/limits/clients.ts'
import { keccak256Hex } from '../../../../src/crypto/hash.ts'
import { DEFAULT_TRACE } from '../../../../src/rpc/codecs/trace.ts'
import { ACCOUNTS } from '../../../support/chain.ts'
import {
  CALL_TRACE,
  LOOP,
  readAll,
  readJson,
  SENDER,
  type TracedChain,
  WRITER,
  withTraces,
  writeCall,
} from './trace-chain.ts'

interface StructLogs {
  readonly gas: number
  readonly failed: boolean
  readonly structLogs: readonly { readonly op: string; readonly depth: number }[]
}
interface StorageRange {
  readonly storage: Readonly<Record<Hex, { readonly key: Hex | null; readonly value: Hex }>>
  readonly nextKey: Hex | null
}
interface Dump {
  readonly accounts: Readonly<Record<string, { readonly balance: string; readonly nonce: number; readonly key: Hex }>>
  readonly next?: string
}

const PRESTATE = {
  name: 'prestateTracer',
  diffMode: false,
  disableCode: false,
  disableStorage: false,
  includeEmpty: false,
} as const

const hashOf = (hex: Hex): Hex => keccak256Hex(hexToBytes(hex))
const ALL = {
  withCode: false,
  withStorage: false,
  incompletes: true,
  limit: TRACE_LIMITS.rangeResults,
  start: toWord(0n),
}

const callOf = (to: Hex, data: Uint8Array, number: number) => ({
  number,
  message: { from: SENDER, to, data, value: 0n },
})

describe('transactions', () => {
  test('are run on the state that the ones before them left', () =>
    withTraces(async ({ chain, traces, submit, deploy, block }) => {
      const writer = await deploy(WRITER)
      // New, the same again, and cleared: each costs something else.
      for (const value of [7n, 7n, 0n]) await submit({ to: writer, data: writeCall(1n, value) })
      const { transactions, header } = await chain.mine()
      const receipts = await chain.blocks.receipts(header.number)
      const found = await block(header.number)
      expect(transactions.length).toBe(3)
      for (const [index, receipt] of (receipts ?? []).entries()) {
        const trace = await readJson<StructLogs>(traces.transaction(found, index, DEFAULT_TRACE))
        expect(trace.gas).toBe(Number(receipt.gasUsed))
        expect(trace.structLogs.map(({ op }) => op)).toContain('SSTORE')
      }
      const all = await readJson<{ txHash: Hex; result: StructLogs }[]>(traces.block(found, DEFAULT_TRACE))
      expect(all.map(({ txHash }) => txHash)).toEqual(transactions.map(({ hash }) => hash))
      expect(all.map(({ result }) => result.gas)).toEqual(receipts?.map(({ gasUsed }) => Number(gasUsed)))
    }))

  test('of older blocks see the state of their time', () =>
    withTraces(async ({ chain, traces, submit, deploy, block }) => {
      const writer = await deploy(WRITER)
      for (let value = 1n; value <= 4n; value++) {
        await submit({ to: writer, data: writeCall(1n, value) })
        await chain.mine()
      }
      const tracer = {
        name: 'prestateTracer',
        diffMode: true,
        disableCode: true,
        disableStorage: false,
        includeEmpty: false,
      } as const
      for (let number = 2; number <= 5; number++) {
        const found = await block(number)
        const { pre, post } = await readJson<Record<'pre' | 'post', Record<Hex, { storage?: Record<Hex, Hex> }>>>(
          traces.transaction(found, 0, { ...DEFAULT_TRACE, tracer }),
        )
        const value = BigInt(number - 1)
        expect(post[writer]?.storage).toEqual({ [toWord(1n)]: toWord(value) })
        expect(pre[writer]?.storage).toEqual(value === 1n ? undefined : { [toWord(1n)]: toWord(value - 1n) })
      }
    }))

  test(
    'without their state are refused with its root',
    () =>
      withTraces(async ({ chain, traces, submit, block }) => {
        await submit({})
        await chain.mine()
        for (let i = 0; i < 130; i++) await chain.mine()
        await expect(readAll(traces.transaction(await block(1), 0, DEFAULT_TRACE))).rejects.toMatchObject({
          code: 'MISSING_STATE',
        })
      }),
    60_000,
  )
})

describe('calls', () => {
  const storedWord = async (
    { traces, block }: TracedChain,
    to: Hex,
    number: number,
    after?: number,
  ): Promise<Hex | undefined> => {
    const config = { ...DEFAULT_TRACE, tracer: { ...STRUCT, disableStorage: false } }
    // SLOAD of slot 1, by an account whose code is overridden.
    const call = { ...callOf(to, new Uint8Array(0), number), overrides: { [to]: { code: hexToBytes('0x60015400') } } }
    const answer = traces.call(await block(number), call, after, config)
    const { structLogs } = await readJson<{ structLogs: { storage?: Record<Hex, Hex> }[] }>(answer)
    return structLogs.find(({ storage }) => storage !== undefined)?.storage?.[toWord(1n)]
  }
  const { tracer: STRUCT } = DEFAULT_TRACE as { tracer: Extract<typeof DEFAULT_TRACE.tracer, { name: 'structLogger' }> }

  test('see the state after a block, or between its transactions', () =>
    withTraces(async traced => {
      const { chain, submit, deploy } = traced
      const writer = await deploy(WRITER)
      for (const value of [5n, 6n]) await submit({ to: writer, data: writeCall(1n, value) })
      await chain.mine()
      const words = [0, 1, 2, undefined].map(after => storedWord(traced, writer, 2, after))
      expect(await Promise.all(words)).toEqual([0n, 5n, 6n, 6n].map(toWord))
    }))

  test('from an account with code show that code', () =>
    withTraces(async ({ traces, deploy, block }) => {
      const loop = await deploy(LOOP)
      const call = { number: 1, message: { from: loop, to: ZERO_ADDRESS, data: new Uint8Array(0), value: 0n } }
      const state = await readJson<Record<Hex, { code: Hex }>>(
        traces.call(await block(1), call, undefined, { ...DEFAULT_TRACE, tracer: PRESTATE }),
      )
      expect(state[loop]?.code).toBe(bytesToHex(LOOP))
    }))

  test('that cannot be made are refused before anything is written', () =>
    withTraces(async ({ traces, block }) => {
      const call = { number: 0, message: { from: ZERO_ADDRESS, to: SENDER, data: new Uint8Array(0), value: 1n } }
      await expect(readAll(traces.call(await block(0), call, undefined, CALL_TRACE))).rejects.toMatchObject({
        code: 'INSUFFICIENT_BALANCE_FOR_TRANSFER',
        text: '',
      })
    }))
})

describe('an endless trace', () => {
  test('ends in time, as JSON that holds what there was', () =>
    withTraces(async ({ traces, deploy, block }) => {
      const loop = await deploy(LOOP)
      const textAfter = async (timeoutMs: number): Promise<string> => {
        const options = { ...DEFAULT_TRACE, timeoutMs }
        const answer = traces.call(await block(1), callOf(loop, new Uint8Array(0), 1), undefined, options)
        const failure = await readAll(answer).catch((error: Error & { code: string; text: string }) => error)
        expect(failure).toMatchObject({ code: 'TRACE_TIMEOUT' })
        return (failure as { readonly text: string }).text
      }
      let text = ''
      // Until the time is enough for a first piece.
      for (let timeoutMs = 500; text === '' && timeoutMs < 20_000; timeoutMs *= 2) text = await textAfter(timeoutMs)
      const { structLogs } = JSON.parse(text) as StructLogs
      expect(structLogs.length).toBeGreaterThan(100)
    }))

  test('without anything written is only an error', () =>
    withTraces(async ({ traces, deploy, block }) => {
      const loop = await deploy(LOOP)
      const answer = traces.call(await block(1), callOf(loop, new Uint8Array(0), 1), undefined, {
        ...CALL_TRACE,
        timeoutMs: 60,
      })
      await expect(readAll(answer)).rejects.toMatchObject({ code: 'TRACE_TIMEOUT', text: '' })
    }))

  test.each([1, 3, 9, 27, 81])('is never cut within a value: %i ms', timeoutMs =>
    withTraces(async ({ traces, deploy, block }) => {
      // Calls itself without its code, for ever: many frames, each a piece of the result.
      const caller = await deploy(hexToBytes('0x5b5f5f5f5f5f60015af1505f56'))
      const call = callOf(caller, new Uint8Array(0), 1)
      const answer = traces.call(
        await block(1),
        { ...call, message: { ...call.message, gas: 3_000_000n } },
        undefined,
        {
          ...CALL_TRACE,
          timeoutMs,
        },
      )
      const text = await readAll(answer).catch((failure: Error & { text: string }) => failure.text)
      if (text !== '') expect(() => JSON.parse(text)).not.toThrow()
    }),
  )

  test('goes no further than its reader, whose pauses do not count', () =>
    withTraces(async ({ traces, deploy, block }) => {
      const loop = await deploy(LOOP)
      const answer = traces.call(await block(1), callOf(loop, new Uint8Array(0), 1), undefined, {
        ...DEFAULT_TRACE,
        timeoutMs: 3_000,
      })
      await answer.next()
      // Longer than it may run: what comes then is only what was under way.
      await new Promise(resolve => setTimeout(resolve, 3_500))
      for (let i = 0; i <= TRACE_LIMITS.chunks; i++) expect((await answer.next())?.byteLength).toBeGreaterThan(0)
      answer.cancel()
      expect(await answer.next()).toBeUndefined()
    }))

  test('releases its slot when its reader is gone', () =>
    withTraces(async ({ traces, deploy, block }) => {
      const loop = await deploy(LOOP)
      const found = await block(1)
      const endless = () =>
        traces.call(found, callOf(loop, new Uint8Array(0), 1), undefined, {
          ...DEFAULT_TRACE,
          timeoutMs: TRACE_LIMITS.maxTimeoutMs,
        })
      const held = Array.from({ length: TRACE_LIMITS.inFlight }, endless)
      for (const answer of held) await answer.next()
      const other = readAll(traces.transaction(found, 0, CALL_TRACE))
      const queued = Array.from({ length: TRACE_LIMITS.queue - 1 }, endless)
      const waiting = queued.map(answer => answer.next())
      await expect(endless().next()).rejects.toMatchObject({ code: 'TRACE_QUEUE_FULL' })
      for (const answer of [...queued, ...held]) answer.cancel()
      expect(await Promise.all(waiting)).toEqual(waiting.map(() => undefined))
      expect(JSON.parse(await other)).toMatchObject({ type: 'CREATE' })
    }))

  test('fails when it would keep too much', () =>
    withTraces(async ({ traces, deploy, block }) => {
      // Calls nobody with a megabyte of zeros, again and again.
      const hoarder = await deploy(hexToBytes('0x5b5f5f620fffff5f5f5f5af1505f56'))
      const answer = traces.call(await block(1), callOf(hoarder, new Uint8Array(0), 1), undefined, {
        ...CALL_TRACE,
        timeoutMs: 60_000,
      })
      await expect(readAll(answer)).rejects.toMatchObject({ code: 'TRACE_TOO_LARGE', text: '' })
    }))

  test('fails when it needs more memory than all traces may', () =>
    withTraces(async ({ traces, deploy, block }) => {
      // A new transient word for a hundred gas, for ever.
      const hoarder = await deploy(hexToBytes('0x5b5a5a5d5f56'))
      const answer = traces.call(await block(1), callOf(hoarder, new Uint8Array(0), 1), undefined, {
        ...CALL_TRACE,
        tracer: { name: 'noopTracer' },
        timeoutMs: 60_000,
      })
      await expect(readAll(answer)).rejects.toMatchObject({ code: 'TRACE_TOO_LARGE', text: '' })
      // What it held is free again.
      const loop = await deploy(LOOP)
      const short = { ...CALL_TRACE, timeoutMs: 20 }
      await expect(
        readAll(traces.call(await block(2), callOf(loop, new Uint8Array(0), 2), undefined, short)),
      ).rejects.toMatchObject({ code: 'TRACE_TIMEOUT' })
    }))
})

describe('walks', () => {
  const storageOf = async (
    { traces, block }: TracedChain,
    address: Hex,
    number: number,
    after: number,
    limit: number,
  ): Promise<Map<Hex, Hex>> => {
    const words = new Map<Hex, Hex>()
    for (let start: Hex | null = toWord(0n); start !== null; ) {
      const page: StorageRange = await readJson(
        traces.storageRange(await block(number), { after, address, start, limit }),
      )
      expect(Object.keys(page.storage).length).toBeLessThanOrEqual(limit)
      for (const [hash, { key, value }] of Object.entries(page.storage) as [Hex, StorageRange['storage'][Hex]][]) {
        if (key !== null) expect(hashOf(key)).toBe(hash)
        words.set(hash, value)
      }
      start = page.nextKey
    }
    return words
  }

  test('of storage find every slot between any two transactions', () =>
    withTraces(async traced => {
      const { chain, submit, deploy } = traced
      const writer = await deploy(WRITER)
      const model = new Map<bigint, bigint>()
      const states: { number: number; after: number; words: [Hex, Hex][] }[] = []
      for (let number = 2; number < 8; number++) {
        for (let after = 0; after < 3; after++) {
          states.push({ number, after, words: [...model].map(([slot, word]) => [hashOf(toWord(slot)), toWord(word)]) })
          const slot = BigInt((number * 7 + after * 3) % 5) * 1_000n
          const word = BigInt((number + after) % 3)
          await submit({ to: writer, data: writeCall(slot, word) })
          if (word === 0n) model.delete(slot)
          else model.set(slot, word)
        }
        await chain.mine()
      }
      expect(states.some(({ words }) => words.length >= 3)).toBe(true)
      for (const { number, after, words } of states)
        expect([...(await storageOf(traced, writer, number, after, 2))].sort()).toEqual(words.sort())
    }))

  test('of accounts find every account of their block', () =>
    withTraces(async ({ chain, traces, submit, block }) => {
      const fresh = (n: number): Hex => `0x${n.toString(16).padStart(40, '9')}`
      for (let n = 1; n <= 5; n++) {
        await submit({ to: fresh(n), value: BigInt(n) })
        await chain.mine()
      }
      for (let number = 0; number <= 5; number++) {
        const accounts = new Map<string, Dump['accounts'][string]>()
        let start = toWord(0n)
        for (let page: Dump | undefined; page === undefined || page.next !== undefined; ) {
          page = await readJson<Dump>(traces.accountRange(await block(number), { ...ALL, start, limit: 3 }))
          for (const [name, account] of Object.entries(page.accounts)) accounts.set(name, account)
          start = `0x${Buffer.from(page.next ?? '', 'base64')
            .toString('hex')
            .padEnd(64, '0')}`
        }
        const found = [...accounts.values()].map(({ key }) => key)
        const expected = [...ACCOUNTS, ...[1, 2, 3, 4, 5].filter(n => n <= number).map(fresh)].map(hashOf)
        expect(found).toEqual(expect.arrayContaining(expected))
        expect(found).toEqual([...found].sort())
        for (let n = number + 1; n <= 5; n++) expect(found).not.toContain(hashOf(fresh(n)))
        // Accounts named in a transaction are listed with their address.
        for (let n = 1; n <= number; n++) expect(accounts.get(fresh(n))?.balance).toBe(String(n))
      }
    }))

  test('of changes name the accounts that blocks changed', () =>
    withTraces(async ({ chain, traces, submit, deploy, block }) => {
      const writer = await deploy(WRITER)
      const loop = await deploy(LOOP)
      await submit({ to: writer, data: writeCall(1n, 1n) })
      await chain.mine()
      await submit({ to: ACCOUNTS[2] as Hex, value: 1n })
      await chain.mine()
      const credited = [...((await chain.economy.rewards(3))?.rewards.keys() ?? [])]
      const one = await readJson<Hex[]>(traces.modifiedAccounts([await block(3)], credited))
      expect(one).toEqual(expect.arrayContaining([writer, SENDER]))
      expect(one).not.toContain(loop)
      expect(one).not.toContain(ACCOUNTS[2])
      const two = await readJson<Hex[]>(traces.modifiedAccounts([await block(3), await block(4)], credited))
      expect(new Set(two)).toEqual(new Set([...one, ACCOUNTS[2]]))
      expect(two.map(hashOf)).toEqual(two.map(hashOf).sort())
    }))
})
