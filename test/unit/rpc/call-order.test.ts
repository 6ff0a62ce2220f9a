import { toQuantity } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import WebSocket from 'ws'
import { VALIDATOR, VALIDATOR_KEY } from '../../support/chain.ts'
import { type Ask, withDevNode } from '../../support/dev-node.ts'

const ALICE = `0x${'a1'.repeat(20)}`
const BOB = `0x${'b0'.repeat(20)}`
const CAROL = `0x${'ca'.repeat(20)}`
type Call = readonly [method: string, ...params: unknown[]]
type Answer = { readonly id: number; readonly result?: unknown; readonly error?: { readonly message: string } }

/** Calls whose results tell in which order they were made, and the results in that order. */
const begin = async (ask: Ask): Promise<void> => {
  await ask('anvil_autoImpersonateAccount', true)
  await ask('anvil_setBalance', ALICE, '0xde0b6b3a7640000')
}
const send = (nonce: number): Call => [
  'eth_sendTransaction',
  { from: ALICE, to: BOB, value: '0x1', gas: '0x5208', nonce: toQuantity(nonce) },
]
const CODE = `0x${'5b'.repeat(20_000)}`
const balance: Call = ['eth_getBalance', BOB, 'latest']
const CALLS: readonly (readonly [Call, unknown])[] = [
  [['eth_blockNumber'], '0x0'],
  [['hardhat_setBalance', BOB, '0x7'], true],
  [balance, '0x7'],
  [['eth_call', { to: BOB, value: '0x0' }, 'latest'], '0x'],
  [['evm_mine'], '0x0'],
  [['eth_blockNumber'], '0x1'],
  [send(0), expect.any(String)],
  [balance, '0x8'],
  [['eth_getTransactionCount', ALICE, 'latest'], '0x1'],
  [['eth_blockNumber'], '0x2'],
  [['evm_snapshot'], '0x1'],
  [['hardhat_setCode', CAROL, CODE], true],
  [['eth_getCode', CAROL, 'latest'], CODE],
  [send(1), expect.any(String)],
  [send(2), expect.any(String)],
  [balance, '0xa'],
  [['hardhat_mine', '0x12c'], true],
  [['eth_blockNumber'], '0x130'],
  [['evm_revert', '0x1'], true],
  [balance, '0x8'],
  [['eth_getCode', CAROL, 'latest'], '0x'],
  [['eth_blockNumber'], '0x2'],
  [['anvil_impersonateNothing'], undefined],
]
const request = ([method, ...params]: Call, id: number) => ({ jsonrpc: '2.0', id, method, params })
const resultsOf = (answers: readonly Answer[]) => answers.toSorted((a, b) => a.id - b.id).map(({ result }) => result)
const WANTED = CALLS.map(([, wanted]) => wanted)

/** Sends messages at once and collects as many responses as there are calls. */
const exchange = async (url: string, messages: readonly unknown[], count: number): Promise<readonly Answer[]> => {
  const socket = new WebSocket(url)
  await new Promise(resolve => socket.once('open', resolve))
  const answers: Answer[] = []
  const done = new Promise<void>(resolve => {
    socket.on('message', (data: Buffer) => {
      answers.push(...[JSON.parse(data.toString())].flat())
      if (answers.length === count) resolve()
    })
  })
  for (const message of messages) socket.send(JSON.stringify(message))
  await done
  socket.close()
  return answers
}

describe('calls after one with an effect see it', () => {
  const calls = CALLS.map(([call], id) => request(call, id))

  test('in a batch', () =>
    withDevNode(async (ask, { urls }) => {
      await begin(ask)
      const response = await fetch(urls.http, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(calls),
      })
      expect(resultsOf((await response.json()) as Answer[])).toEqual(WANTED)
    }))

  test('in a batch that sends a transaction again', () =>
    withDevNode(
      async (ask, { urls }) => {
        await ask('anvil_setBalance', VALIDATOR, '0xde0b6b3a7640000')
        await ask('evm_setAutomine', false)
        const call = { from: VALIDATOR, to: BOB, value: '0x0', nonce: '0x0', gas: '0x5208', gasPrice: '0x6fc23ac00' }
        await ask('eth_sendTransaction', call)
        const gasPrice = '0x826299e00'
        const response = await fetch(urls.http, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify([request(['eth_resend', call, gasPrice], 0), request(['eth_pendingTransactions'], 1)]),
        })
        const [hash, pending] = resultsOf((await response.json()) as Answer[])
        expect(pending).toMatchObject([{ hash, gasPrice }])
      },
      { unlocked: [{ address: VALIDATOR, privateKey: VALIDATOR_KEY }], publicSigning: true },
    ))

  test('on a WebSocket', () =>
    withDevNode(async (ask, { urls }) => {
      await begin(ask)
      expect(resultsOf(await exchange(urls.ws, calls, calls.length))).toEqual(WANTED)
    }))

  test('on a WebSocket in batches and alone', () =>
    withDevNode(async (ask, { urls }) => {
      await begin(ask)
      const messages = [
        calls.slice(0, 1),
        calls.slice(1, 2),
        ...calls.slice(2, 5),
        calls.slice(5, 14),
        ...calls.slice(14),
      ]
      expect(resultsOf(await exchange(urls.ws, messages, calls.length))).toEqual(WANTED)
    }))

  test('on a WebSocket when a batch that only reads stands between', () =>
    withDevNode(async (ask, { urls }) => {
      await begin(ask)
      const setTo = (balance: string): Call => ['hardhat_setBalance', BOB, balance]
      const given: readonly Call[] = [setTo('0x7'), balance, balance, setTo('0x8'), balance, balance]
      const calls = given.map(request)
      const messages = calls.map((call, id) => (id === 1 || id === 4 ? [call] : call))
      const results = [true, '0x7', '0x7', true, '0x8', '0x8']
      expect(resultsOf(await exchange(urls.ws, messages, calls.length))).toEqual(results)
      expect(await ask('eth_getBalance', BOB, 'latest')).toBe('0x8')
    }))
})

test('reads on a WebSocket do not wait for each other, nor an effect for them', () =>
  withDevNode(async (ask, { urls }) => {
    // JUMPDEST; PUSH0; JUMP: a call that ends with its gas or its time.
    await ask('hardhat_setCode', BOB, '0x5b5f56')
    const calls = [
      request(['eth_call', { to: BOB, gas: '0x2faf080' }, 'latest'], 0),
      request(['eth_blockNumber'], 1),
      request(['evm_mine'], 2),
      request(['eth_blockNumber'], 3),
    ]
    const answers = await exchange(urls.ws, calls, calls.length)
    expect(answers.map(({ id }) => id)).toEqual([1, 2, 3, 0])
    expect(answers[2]).toMatchObject({ result: '0x1' })
  }))
