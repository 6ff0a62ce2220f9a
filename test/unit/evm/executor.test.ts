import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { type Hex, toWord, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { describe, expect, test } from 'vitest'
import { NETWORKS } from '../../../src/config/networks.ts'
import { createExecutor } from '../../../src/evm/engines/executor.ts'
import { createAddress } from '../../../src/primitives/receipt/address.ts'
import type { Transaction } from '../../../src/primitives/transaction/transaction.ts'
import type { TransactionError } from '../../../src/rules/transaction.ts'
import { Journal } from '../../../src/state/journal/journal.ts'
import type { MemoryState } from '../state/memory-state.ts'
import {
  ample,
  code,
  deployer,
  env,
  funded,
  GAS_PRICE,
  GWEI,
  key,
  listSource,
  signed,
  TOKEN,
  withCode,
} from './world.ts'

const alice = key(1)
const bob = key(2)
const executor = createExecutor({ mode: 'wasm', logger: silentLogger })
const CONTRACT: Hex = `0x${'0b'.repeat(20)}`
/** JUMPDEST, PUSH0, JUMP. */
const LOOP = code(0x5b, 0x5f, 0x56)

const transfer = (nonce: number, more = {}): Transaction =>
  signed(alice, { nonce, to: bob.address, value: 5n, gasLimit: 21_000n, ...more })

const run = async (transactions: readonly Transaction[], state: MemoryState = funded([alice]), block = env()) => {
  const journal = new Journal(state)
  const execution = await executor.execute(journal, block, transactions)
  return { execution, after: state.with(journal.changes()) }
}

const refusal = async (
  tx: Transaction,
  state: MemoryState = funded([alice]),
  block = env(),
): Promise<TransactionError> => {
  const built = await executor.build(new Journal(state), block, listSource([tx]), ample)
  expect(built.transactions).toEqual([])
  return built.dropped[0]?.reason as TransactionError
}

describe('fees', () => {
  test('a legacy transaction pays its whole price; the block divides its fees once and burns the rest', async () => {
    const { execution, after } = await run([
      transfer(0, { maxFeePerGas: 25n * GWEI + 1n }),
      transfer(1, { maxFeePerGas: 25n * GWEI + 1n }),
    ])
    const fees = 42_000n * (25n * GWEI + 1n)
    expect(execution.fees).toEqual({
      proposer: fees / 5n,
      miner: fees / 5n,
      foundation: fees / 10n,
      burnt: fees - fees / 5n - fees / 5n - fees / 10n,
    })
    const block = env()
    expect(after.account(block.proposerReward)?.balance).toBe(execution.fees.proposer)
    expect(after.account(block.miner)?.balance).toBe(execution.fees.miner)
    expect(after.account(block.foundation)?.balance).toBe(execution.fees.foundation)
    expect(after.account(alice.address)?.balance).toBe(1_000_000n * TOKEN - 10n - fees)
  })

  test('a tip is honoured within the cap', async () => {
    const fee = (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint) => ({
      type: 2 as const,
      maxFeePerGas,
      maxPriorityFeePerGas,
    })
    const { execution } = await run([
      transfer(0, fee(100n * GWEI, 3n * GWEI)),
      transfer(1, fee(26n * GWEI, 3n * GWEI)),
      transfer(2, fee(100n * GWEI, 0n)),
    ])
    expect(execution.receipts.map(receipt => receipt.effectiveGasPrice)).toEqual([28n * GWEI, 26n * GWEI, 25n * GWEI])
  })

  test('without a miner the foundation has its share', async () => {
    const { execution, after } = await run([transfer(0)], funded([alice]), env({ miner: ZERO_ADDRESS }))
    expect(execution.fees.miner).toBe(0n)
    expect(after.account(env().foundation)?.balance).toBe((21_000n * GAS_PRICE * 3n) / 10n)
    expect(after.account(ZERO_ADDRESS)).toBeUndefined()
  })

  test('credits come after the transactions', async () => {
    const journal = new Journal(funded([alice]))
    const poor = signed(bob, { nonce: 0, to: alice.address, value: 1n, gasLimit: 21_000n })
    await expect(
      executor.execute(journal, env(), [poor], [{ address: bob.address, amountWei: TOKEN }]),
    ).rejects.toMatchObject({
      detail: { code: 'INVALID_TRANSACTION', index: 0, reason: { code: 'INSUFFICIENT_FUNDS' } },
    })
    const later = new Journal(funded([alice]))
    await executor.execute(later, env(), [], [{ address: bob.address, amountWei: TOKEN }])
    expect(later.balance(bob.address)).toBe(TOKEN)
  })
})

describe('validity', () => {
  test.each([
    ['nonce too low', { nonce: 0 }, { code: 'NONCE_TOO_LOW', expected: 3, got: 0 }],
    ['nonce too high', { nonce: 4 }, { code: 'NONCE_TOO_HIGH', expected: 3, got: 4 }],
    ['another chain', { chainId: 1 }, { code: 'INVALID_CHAIN_ID', have: 1, want: 1_998_999 }],
    [
      'below the base fee',
      { maxFeePerGas: 24n * GWEI },
      { code: 'FEE_BELOW_BASE_FEE', have: 24n * GWEI, want: 25n * GWEI },
    ],
    [
      'tip above the cap',
      { type: 2 as const, maxFeePerGas: 30n * GWEI, maxPriorityFeePerGas: 31n * GWEI },
      { code: 'TIP_ABOVE_FEE_CAP', tip: 31n * GWEI, cap: 30n * GWEI },
    ],
    ['too little gas', { gasLimit: 20_999n }, { code: 'INTRINSIC_GAS', have: 20_999n, want: 21_000n }],
    [
      'too little gas for its data',
      { data: new Uint8Array(3), gasLimit: 21_299n },
      { code: 'INTRINSIC_GAS', have: 21_299n, want: 21_300n },
    ],
    [
      'init code too large',
      { to: null, data: new Uint8Array(49_153), gasLimit: 9_000_000n },
      { code: 'INIT_CODE_TOO_LARGE', size: 49_153, limit: 49_152 },
    ],
    [
      'blobs',
      { type: 3 as const, maxFeePerBlobGas: 1n, blobVersionedHashes: [toWord(1n)] },
      { code: 'TYPE_UNSUPPORTED', type: 3 },
    ],
    ['delegations without one', { type: 4 as const, authorizationList: [] }, { code: 'NO_AUTHORIZATIONS' }],
  ])('%s', async (_, fields, reason) => {
    const state = funded([alice])
    Object.assign(state.accounts.get(alice.address) as object, { nonce: 3 })
    expect(await refusal(transfer(3, fields), state)).toEqual(reason)
  })

  test('above the gas limit of blocks it keeps its place in the pool, and a proposal with it is invalid', async () => {
    const above = transfer(0, { gasLimit: 10n ** 12n })
    const built = await executor.build(new Journal(funded([alice, bob])), env(), listSource([above]), ample)
    expect(built).toMatchObject({ transactions: [], dropped: [] })
    await expect(run([above])).rejects.toMatchObject({
      detail: { index: 0, reason: { code: 'GAS_LIMIT_TOO_HIGH', have: 10n ** 12n, limit: 999_999_999_999n } },
    })
  })

  test('the whole gas limit must be payable', async () => {
    const state = funded([alice], 10n ** 6n * GAS_PRICE + 4n)
    expect(await refusal(transfer(0, { gasLimit: 10n ** 6n }), state)).toEqual({
      code: 'INSUFFICIENT_FUNDS',
      have: 10n ** 6n * GAS_PRICE + 4n,
      want: 10n ** 6n * GAS_PRICE + 5n,
    })
  })

  test('an account with code sends nothing (EIP-3607)', async () => {
    const state = withCode(funded([alice]), alice.address, LOOP, TOKEN)
    expect(await refusal(transfer(1), state)).toEqual({ code: 'SENDER_NOT_EOA', address: alice.address })
  })

  test('execute names the transaction that is at fault', async () => {
    await expect(run([transfer(0), transfer(2)])).rejects.toMatchObject({
      detail: { code: 'INVALID_TRANSACTION', index: 1, reason: { code: 'NONCE_TOO_HIGH', expected: 1, got: 2 } },
    })
  })
})

describe('gas bounds', () => {
  test('a message runs with at most maxTxExecutionGas; the rest of the limit comes back', async () => {
    const params = { ...NETWORKS.devnet, maxTxExecutionGas: 200_000n }
    const state = withCode(funded([alice]), CONTRACT, LOOP)
    const { execution, after } = await run(
      [signed(alice, { to: CONTRACT, gasLimit: 5_000_000n })],
      state,
      env({ params }),
    )
    expect(execution.receipts[0]).toMatchObject({ status: 0, gasUsed: 200_000n })
    expect(after.account(alice.address)?.balance).toBe(1_000_000n * TOKEN - 200_000n * GAS_PRICE)
  })

  test('a refund is at most a fifth of the gas used (EIP-3529)', async () => {
    // Clears slots 0 to 4.
    const clear = code(...[0, 1, 2, 3, 4].flatMap(slot => [0x5f, 0x60, `0${slot}`, 0x55]), 0x00)
    const state = withCode(funded([alice]), CONTRACT, clear)
    for (let slot = 0n; slot < 5n; slot++) state.accounts.get(CONTRACT)?.storage.set(toWord(slot), toWord(9n))
    const { execution } = await run([signed(alice, { to: CONTRACT })], state)
    const used = 21_000n + 5n * (2n + 3n + 5_000n)
    expect(execution.gasUsed).toBe(used - used / 5n)
  })

  test('a self-destruct in the transaction of its creation removes the account, later it does not (EIP-6780)', async () => {
    const dies = code(0x33, 0xff)
    const created = createAddress(alice.address, 0)
    const { after } = await run([
      signed(alice, { nonce: 0, data: dies, value: 3n }),
      signed(alice, { nonce: 1, data: deployer(dies), value: 3n }),
      signed(alice, { nonce: 2, to: createAddress(alice.address, 1) }),
    ])
    expect(after.account(created)).toBeUndefined()
    const kept = after.account(createAddress(alice.address, 1))
    expect(kept).toMatchObject({ nonce: 1, balance: 0n })
  })
})

describe('build', () => {
  test('stops at the byte limit, passing over what does not fit', async () => {
    const small = transfer(0)
    const large = signed(bob, { nonce: 0, to: alice.address, data: new Uint8Array(1_000) })
    const budget = { ...ample, maxBytes: small.raw.byteLength * 2 + 50 }
    const source = listSource([small, large, transfer(1), transfer(2)])
    const built = await executor.build(new Journal(funded([alice, bob])), env(), source, budget)
    expect(built.transactions.map(tx => tx.nonce)).toEqual([0, 1])
    expect(built.dropped).toEqual([])
  })

  test('takes nothing after the deadline', async () => {
    let now = 0
    const source = listSource([0, 1, 2, 3, 4].map(n => transfer(n)))
    const next = () => {
      now++
      return source.next()
    }
    const budget = { ...ample, nowMs: () => now, deadlineMs: 3 }
    const slow = { next, skipSender() {} }
    const built = await executor.build(new Journal(funded([alice])), env(), slow, budget)
    expect(built.transactions.length).toBe(3)
  })

  test('an invalid candidate takes its sender with it, a used one does not', async () => {
    const list = [transfer(0), transfer(0), transfer(1), transfer(5), transfer(2)]
    const built = await executor.build(new Journal(funded([alice])), env(), listSource(list), ample)
    expect(built.transactions.map(tx => tx.nonce)).toEqual([0, 1])
    expect(built.dropped.map(({ reason }) => reason.code)).toEqual(['NONCE_TOO_LOW', 'NONCE_TOO_HIGH'])
  })
})

describe('the bound on the execution of a block', () => {
  const params = { ...NETWORKS.devnet, maxTxExecutionGas: 100_000n, maxBlockExecutionGas: 250_000n }
  const state = () => withCode(funded([alice, bob]), CONTRACT, LOOP)
  const loop = (nonce: number, from = alice) => signed(from, { nonce, to: CONTRACT, gasLimit: 5_000_000n })
  const beyond = { code: 'BLOCK_GAS_EXCEEDED', have: 100_000n, limit: 50_000n }

  test('ends a block under construction, and what has no room there keeps its place', async () => {
    const list = [loop(0), loop(1), loop(2), loop(0, bob), loop(1, bob)]
    const built = await executor.build(new Journal(state()), env({ params }), listSource(list), ample)
    expect(built.gasUsed).toBe(200_000n)
    expect(built.transactions).toEqual(list.slice(0, 2))
    expect(built.dropped).toEqual([])
  })

  test('leaves room for those that use less', async () => {
    const small = signed(bob, { nonce: 0, to: alice.address, gasLimit: 50_000n })
    const list = [loop(0), loop(1), loop(2), small, loop(1, bob)]
    const built = await executor.build(new Journal(state()), env({ params }), listSource(list), ample)
    expect(built.transactions).toEqual([list[0], list[1], small])
  })

  test.each(['wasm', 'ethereumjs'] as const)('makes a proposal that may go beyond it invalid (%s)', async mode => {
    const tried = createExecutor({ mode, logger: silentLogger })
    const run = (list: readonly Transaction[]) => tried.execute(new Journal(state()), env({ params }), list)
    const atBound = signed(bob, { nonce: 0, to: CONTRACT, gasLimit: 50_000n })
    expect((await run([loop(0), loop(1), atBound])).gasUsed).toBe(250_000n)
    await expect(run([loop(0), loop(1), loop(2)])).rejects.toMatchObject({
      detail: { code: 'INVALID_TRANSACTION', index: 2, reason: beyond },
    })
  })

  test('a proposal is executed no further than its header says', async () => {
    let ran = 0
    const counting = createExecutor({
      mode: 'wasm',
      logger: silentLogger,
      engine: {
        name: 'counting',
        run: async (_journal, _env, { gas }) => {
          ran++
          const failure = { kind: 'halt', reason: 'out of gas' } as const
          return { gasUsed: gas, refund: 0n, output: code(), logs: [], created: null, destroyed: [], failure }
        },
      },
    })
    const list = [loop(0), loop(0, bob), loop(1)]
    const executed = (gasUsed: bigint) =>
      counting.execute(new Journal(state()), env({ params: NETWORKS.devnet }), list, [], { gasUsed })
    await expect(executed(5_000_001n)).rejects.toMatchObject({
      detail: { code: 'BODY_GAS_USED', index: 1, gasUsed: 5_000_001n },
    })
    expect(ran).toBe(2)
    expect((await executed(15_000_000n)).gasUsed).toBe(15_000_000n)
  })
})

describe('a fault of the engine', () => {
  const broken = createExecutor({
    mode: 'wasm',
    logger: silentLogger,
    engine: { name: 'broken', run: async () => Promise.reject(new RangeError('no memory')) },
  })
  const list = [
    signed(alice, { nonce: 0, data: Uint8Array.of(0) }),
    signed(bob, { nonce: 0, to: alice.address, gasLimit: 21_000n }),
  ]
  const reason = { code: 'EXECUTION_FAULT', message: 'no memory' }

  test('costs only its transaction the place in the block', async () => {
    const journal = new Journal(funded([alice, bob]))
    const built = await broken.build(journal, env(), listSource(list), ample)
    expect(built.transactions).toEqual([list[1]])
    expect(built.dropped).toEqual([{ transaction: list[0], reason }])
    expect(journal.balance(alice.address)).toBe(1_000_000n * TOKEN)
  })

  test('says nothing about a proposal with the transaction', async () => {
    await expect(broken.execute(new Journal(funded([alice, bob])), env(), list)).rejects.toMatchObject({
      detail: { ...reason, index: 0, hash: list[0]?.hash },
    })
  })
})

describe('event loop', () => {
  test('runs other tasks while a block is executed', async () => {
    const params = { ...NETWORKS.devnet, maxTxExecutionGas: 390_000_000n }
    const state = withCode(funded([alice]), CONTRACT, LOOP)
    // The engine is loaded, which takes turns of its own.
    await run(
      [signed(alice, { to: CONTRACT, gasLimit: 100_000n })],
      withCode(funded([alice]), CONTRACT, LOOP),
      env({ params }),
    )
    let turns = 0
    let isOver = false
    const takeTurn = () => {
      turns++
      if (!isOver) setImmediate(takeTurn)
    }
    setImmediate(takeTurn)
    await run([signed(alice, { to: CONTRACT, gasLimit: 390_000_000n })], state, env({ params }))
    isOver = true
    // Without giving way there is no turn before the end.
    expect(turns).toBeGreaterThan(1)
  })

  test('neither transfers nor code load anything of EthereumJS', async () => {
    const script = `
      import { createExecutor } from './src/evm/engines/executor.ts'
      import { Journal } from './src/state/journal/journal.ts'
      import { silentLogger } from '@tandem/base/logger.ts'
      import { env, funded, key, signed } from './test/unit/evm/world.ts'
      import { createRequire, registerHooks } from 'node:module'
      const loaded = []
      registerHooks({ load: (url, context, next) => { if (url.includes('@ethereumjs')) loaded.push(url); return next(url, context) } })
      const executor = createExecutor({ mode: 'wasm', logger: silentLogger })
      const alice = key(1)
      await executor.execute(new Journal(funded([alice])), env(), [signed(alice, { to: key(2).address, value: 1n })])
      console.log(loaded.length)
      await executor.execute(new Journal(funded([alice])), env(), [signed(alice, { data: Uint8Array.of(0) })])
      console.log(loaded.length)`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module-typescript', '-e', script])
    const [before, after] = stdout.trim().split('\n').map(Number) as [number, number]
    expect(before).toBe(0)
    expect(after).toBe(0)
  })
})

describe('modes', () => {
  test('ethereumjs gives the same block', async () => {
    const slow = createExecutor({ mode: 'ethereumjs', logger: silentLogger })
    const list = [
      transfer(0),
      signed(alice, { nonce: 1, data: deployer(LOOP) }),
      transfer(2, { type: 1, accessList: [{ address: CONTRACT, storageKeys: [toWord(1n)] }], gasLimit: 30_000n }),
    ]
    const [a, b] = [new Journal(funded([alice])), new Journal(funded([alice]))]
    const fast = await executor.execute(a, env(), list)
    expect(await slow.execute(b, env(), list)).toEqual(fast)
    expect(b.changes()).toEqual(a.changes())
    const built = await slow.build(new Journal(funded([alice])), env(), listSource([transfer(1), transfer(0)]), ample)
    expect(built.dropped[0]?.reason).toEqual({ code: 'NONCE_TOO_HIGH', expected: 0, got: 1 })
  })
})
