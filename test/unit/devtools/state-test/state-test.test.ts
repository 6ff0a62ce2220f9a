import { bytesToHex, type Hex, toQuantity, toWord } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Fixture, readTests } from '../../../../devtools/state-test/fixture.ts'
import { runStateTests, type StateTestResult } from '../../../../devtools/state-test/run.ts'
import { keccak256Hex } from '../../../../src/crypto/hash.ts'
import { createExecutor } from '../../../../src/evm/engines/executor.ts'
import { TrieService } from '../../../../src/state/trie/trie-service.ts'
import { code, funded, key, signed, TOKEN, withCode } from '../../evm/world.ts'
import { memoryAccount } from '../../state/memory-state.ts'
import { referenceRoot } from '../../state/world.ts'

const sender = key(1)
const CONTRACT: Hex = `0x${'0b'.repeat(20)}`
const COINBASE: Hex = `0x${'cb'.repeat(20)}`
/** Slot 0 = 7. */
const RUNTIME = code(0x60, '07', 0x5f, 0x55)

const fixture = (post: Fixture['post'], more: Partial<Fixture['transaction']> = {}): Fixture => ({
  env: {
    currentCoinbase: COINBASE,
    currentNumber: '0x1',
    currentTimestamp: '0x3e8',
    currentGasLimit: '0x1000000',
    currentDifficulty: '0x0',
    currentBaseFee: '0x7',
    currentRandom: toWord(5n),
  },
  pre: {
    [sender.address]: { balance: toQuantity(TOKEN), nonce: '0x0', code: '0x', storage: {} },
    [CONTRACT]: { balance: '0x0', nonce: '0x1', code: bytesToHex(RUNTIME), storage: { '0x01': '0x02' } },
  },
  transaction: {
    nonce: '0x0',
    gasPrice: '0xa',
    gasLimit: ['0x186a0', '0x5208'],
    value: ['0x0'],
    data: ['0x'],
    to: CONTRACT,
    secretKey: bytesToHex(sender.secret),
    ...more,
  },
  post,
})

const NO_LOGS = keccak256Hex(Uint8Array.of(0xc0))
const at = (hash: Hex, gas = 0) => ({ hash, logs: NO_LOGS, indexes: { data: 0, gas, value: 0 } })

const run = async (test: Fixture, forks?: ReadonlySet<string>) => {
  const trie = await TrieService.open({ worker: false })
  onTestFinished(() => trie.close())
  const executor = createExecutor({ mode: 'shadow', logger: silentLogger })
  const results: StateTestResult[] = []
  for await (const result of runStateTests({ executor, trie }, { one: test }, forks)) results.push(result)
  return results
}

const before = () => {
  const state = withCode(funded([sender], TOKEN), CONTRACT, RUNTIME)
  state.accounts.get(CONTRACT)?.storage.set(toWord(1n), toWord(2n))
  return state
}

test('roots, logs and refusals of a state test', async () => {
  const used = 21_000n + 3n + 2n + 22_100n
  const state = before()
  state.accounts.set(sender.address, memoryAccount({ nonce: 1, balance: TOKEN - used * 10n }))
  state.accounts.set(COINBASE, memoryAccount({ balance: used * 3n }))
  state.accounts.get(CONTRACT)?.storage.set(toWord(0n), toWord(7n))
  const [after, unchanged] = [await referenceRoot(state), await referenceRoot(before())]
  const results = await run(fixture({ Cancun: [at(after), at(unchanged, 1)], Moon: [at(after)] }))
  expect(results).toMatchObject([
    { name: 'one', fork: 'Cancun', index: 0, stateRoot: after, logsHash: NO_LOGS, pass: true },
    // 21,000 gas are enough to be valid; the code runs out of it.
    { index: 1, pass: false },
    { fork: 'Moon', skipped: true, pass: false },
  ])
})

test('a refused transaction leaves the state as it was', async () => {
  const unchanged = await referenceRoot(before())
  const [result] = await run(fixture({ Cancun: [at(unchanged)] }, { nonce: '0x5' }))
  expect(result).toMatchObject({ pass: true, stateRoot: unchanged, txError: expect.stringContaining('NONCE_TOO_HIGH') })
})

test('only the forks asked for are run', async () => {
  const posts = { London: [at(toWord(1n))], Cancun: [at(toWord(1n))] }
  expect((await run(fixture(posts), new Set(['London']))).map(result => result.fork)).toEqual(['London'])
})

test('blobs are paid for at the price of the block, by the figures of the fork or of the file', async () => {
  // The excess is ten times the fraction that the file names: a price of e^10.
  const blobs = { maxFeePerBlobGas: '0x10000', blobVersionedHashes: [`0x01${'00'.repeat(31)}` as Hex] } as const
  const blobGas = 131_072n
  const used = 21_000n + 3n + 2n + 22_100n
  const rootAt = async (price: bigint): Promise<Hex> => {
    const state = before()
    state.accounts.set(
      sender.address,
      memoryAccount({ nonce: 1, balance: TOKEN - used * 7n - 3n * used - price * blobGas }),
    )
    state.accounts.set(COINBASE, memoryAccount({ balance: used * 3n }))
    state.accounts.get(CONTRACT)?.storage.set(toWord(0n), toWord(7n))
    return referenceRoot(state)
  }
  const fees = { gasPrice: undefined, maxFeePerGas: '0xa', maxPriorityFeePerGas: '0x3' } as unknown as Partial<
    Fixture['transaction']
  >
  const test = (fork: string, root: Hex, more: Partial<Fixture> = {}): Fixture => {
    const base = fixture({ [fork]: [at(root)] }, { ...fees, ...blobs })
    const { gasPrice: _, ...transaction } = base.transaction
    return { ...base, transaction, env: { ...base.env, currentExcessBlobGas: '0xa00000' }, ...more }
  }
  const schedule = { target: '0x1', max: '0x2', baseFeeUpdateFraction: '0x100000' } as const
  const runs = [
    test('Cancun', await rootAt(23n)),
    test('Prague', await rootAt(8n)),
    test('BPO1', await rootAt(3n)),
    test('Osaka', await rootAt(22_026n), { config: { blobSchedule: { Osaka: schedule } } }),
  ]
  for (const each of runs) expect(await run(each)).toMatchObject([{ pass: true }])
  const [refused] = await run(test('Shanghai', await referenceRoot(before())))
  expect(refused).toMatchObject({ pass: true, txError: expect.stringContaining('TYPE_UNSUPPORTED') })
})

test('signed bytes are used unchanged, and unsigned bytes are refused', async () => {
  const unchanged = await referenceRoot(before())
  const { raw } = signed(sender, { chainId: 1, nonce: 9, to: CONTRACT, maxFeePerGas: 10n })
  const entry = (txbytes: Hex) => fixture({ Cancun: [{ ...at(unchanged), txbytes }] })
  expect(await run(entry(bytesToHex(raw)))).toMatchObject([{ pass: true, txError: expect.stringContaining('"got":9') }])
  expect(await run(entry('0x02c0'))).toMatchObject([{ pass: true, txError: expect.stringContaining('MALFORMED') }])
})

describe('a test that cannot be read is one result that says why', () => {
  const good = fixture({ Cancun: [at(toWord(1n))] })
  test.each<[string, unknown, string]>([
    ['no object', 5, 'test: want an object'],
    ['a part missing', { ...good, env: undefined }, 'test: "env" is missing'],
    ['no address', { ...good, pre: { '0x12': good.pre[CONTRACT] } }, 'test.pre: key "0x12": want an address'],
    [
      'half a byte',
      { ...good, transaction: { ...good.transaction, data: ['0x1'] } },
      'test.transaction.data[0]: want bytes',
    ],
    [
      'a number too long',
      { ...good, env: { ...good.env, currentNumber: `0x${'1'.repeat(65)}` } },
      'test.env.currentNumber: want a number',
    ],
    ['no list', { ...good, post: { Cancun: {} } }, 'test.post.Cancun: want a list'],
    [
      'no place in a list',
      { ...good, post: { Cancun: [{ ...at(toWord(1n)), indexes: { data: -1, gas: 0, value: 0 } }] } },
      'test.post.Cancun[0].indexes.data: want a place in a list',
    ],
  ])('%s', async (_, broken, error) => {
    const results = await run(broken as Fixture)
    expect(results).toEqual([{ name: 'one', error: expect.stringContaining(error), pass: false }])
  })

  test('an entry that names what the test does not have', async () => {
    const post = { ...at(toWord(1n)), indexes: { data: 0, gas: 7, value: 0 } }
    expect(await run(fixture({ Cancun: [post] }))).toMatchObject([
      { fork: 'Cancun', index: 0, error: 'transaction.gasLimit: has no place 7, which an entry names', pass: false },
    ])
  })

  test.each([
    ['', 'not JSON'],
    ['[1]', 'want an object'],
    ['null', 'want an object'],
  ])('a file of %j', (text, problem) => {
    expect(() => readTests(text)).toThrow(expect.objectContaining({ message: expect.stringContaining(problem) }))
  })
})
