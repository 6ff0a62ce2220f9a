import { expect, onTestFinished, test } from 'vitest'
import { keccak256Hex } from '../../../src/crypto/hash.ts'
import { createExecutor } from '../../../src/evm/executor.ts'
import type { Fixture } from '../../../src/evm/state-test/fixture.ts'
import { runStateTests, type StateTestResult } from '../../../src/evm/state-test/run.ts'
import { TrieService } from '../../../src/state/trie/service.ts'
import { bytesToHex, type Hex, toQuantity, toWord } from '../../../src/util/bytes.ts'
import { silentLogger } from '../../../src/util/logger.ts'
import { memoryAccount } from '../state/memory-state.ts'
import { referenceRoot } from '../state/world.ts'
import { code, funded, key, TOKEN, withCode } from './world.ts'

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

test('only the forks asked for are run; blobs are passed over', async () => {
  const posts = { London: [at(toWord(1n))], Cancun: [at(toWord(1n))] }
  expect((await run(fixture(posts), new Set(['London']))).map(result => result.fork)).toEqual(['London'])
  expect(await run(fixture({ Cancun: posts.Cancun }, { maxFeePerBlobGas: '0x1' }))).toMatchObject([{ skipped: true }])
})
