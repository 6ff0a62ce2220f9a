import { type Hex, ZERO_ADDRESS, ZERO_HASH } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import { ETHEREUM_BLOBS } from '../../../devtools/ethereum-params.ts'
import { forksWith } from '../../../src/config/forks.ts'
import { POOL_LIMITS } from '../../../src/config/limits/pool.ts'
import { type ChainParams, NETWORKS } from '../../../src/config/networks.ts'
import { BLOCK_BOUNDS } from '../../../src/config/protocol-bounds.ts'
import type { Transaction } from '../../../src/primitives/transaction/transaction.ts'
import { paramsAt } from '../evm/world.ts'
import { address, CHAIN_ID, createPool, FLOOR, GWEI, refusalOf, TOKEN, transaction } from './fixtures.ts'

const [ALICE, BOB] = [address(1), address(2)]
const live: ChainParams = { ...NETWORKS.devnet, devHelpers: false }
const prague: ChainParams = {
  ...NETWORKS.devnet,
  forks: forksWith(NETWORKS.devnet.forks, { prague: 5 }),
}

const authorizationList: Transaction['authorizationList'] = [
  { chainId: 0n, address: ZERO_ADDRESS, nonce: 0n, yParity: 0, r: Uint8Array.of(1), s: Uint8Array.of(1) },
]

const refusal = (fields: Partial<Transaction>, setup: Parameters<typeof createPool>[0] = {}) => {
  const { pool } = createPool(setup)
  return refusalOf(() => pool.admit(transaction({ from: ALICE, nonce: 0, ...fields }), 'local'))
}

describe('form', () => {
  test('the same transaction twice', () => {
    const { pool } = createPool()
    const tx = transaction({ from: ALICE, nonce: 0 })
    pool.admit(tx, 'local')
    expect(refusalOf(() => pool.admit(tx, 'remote'))).toEqual({ code: 'ALREADY_KNOWN', hash: tx.hash })
  })

  test('blobs never, set-code from Prague on', () => {
    expect(refusal({ type: 3 })).toEqual({ code: 'TYPE_UNSUPPORTED', type: 3 })
    expect(refusal({ type: 3 }, { params: prague, number: 5 })).toEqual({ code: 'TYPE_UNSUPPORTED', type: 3 })
    expect(refusal({ type: 4 }, { params: prague, number: 4 })).toEqual({ code: 'TYPE_UNSUPPORTED', type: 4 })
    expect(refusal({ type: 4, authorizationList, gasLimit: 50_000n }, { params: prague, number: 5 })).toBeUndefined()
    const { pool } = createPool({ params: prague, number: 4 })
    pool.onBlock({ number: 4, transactions: [], baseFee: FLOOR, nowMs: 0 })
    expect(
      pool.admit(transaction({ from: ALICE, nonce: 0, type: 4, authorizationList, gasLimit: 50_000n }), 'local').status,
    ).toBe('pending')
  })

  test('an authorization counts for what it holds: a list that is short on the wire is no small transaction', () => {
    const [one] = authorizationList as [NonNullable<Transaction['authorizationList']>[number]]
    const listOf = (length: number) => Array.from({ length }, () => ({ ...one }))
    const setup = { params: prague, number: 5 }
    const most = Math.floor(BLOCK_BOUNDS.transactionBytes / POOL_LIMITS.authorizationBytes) - 1
    const fields = (length: number) => ({ type: 4, authorizationList: listOf(length), gasLimit: 60_000_000n }) as const
    expect(refusal(fields(most + 2), setup)).toMatchObject({ code: 'OVERSIZED' })
    const { pool } = createPool(setup)
    pool.admit(transaction({ from: ALICE, nonce: 0, ...fields(160) }), 'local')
    expect(pool.slots().ready).toBe(Math.ceil((160 * POOL_LIMITS.authorizationBytes) / POOL_LIMITS.slotBytes) + 1)
  })

  test('so does an item of an access list, which leaves it valid', () => {
    const { pool } = createPool()
    const accessList = Array.from({ length: 5_000 }, (_, n) => ({ address: address(n), storageKeys: [] }))
    const raw = new Uint8Array(115_000)
    pool.admit(transaction({ from: ALICE, nonce: 0, type: 2, accessList, raw, gasLimit: 12_500_000n }), 'local')
    const listBytes = 5_000 * POOL_LIMITS.accessItemBytes
    expect(pool.slots().ready).toBe(Math.ceil((raw.byteLength + listBytes) / POOL_LIMITS.slotBytes))
    const storageKeys = Array.from({ length: 99 }, () => ZERO_HASH)
    const accessed = { type: 2, accessList: [{ address: ALICE, storageKeys }], gasLimit: 300_000n } as const
    pool.admit(transaction({ from: BOB, nonce: 1, ...accessed }), 'local')
    expect(pool.slots().queued).toBe(Math.ceil((110 + 100 * POOL_LIMITS.accessItemBytes) / POOL_LIMITS.slotBytes))
  })

  test('init code up to 48 KiB, only for a creation', () => {
    const limitBytes = 2 * BLOCK_BOUNDS.codeBytes
    const gasLimit = 10_000_000n
    expect(refusal({ to: null, gasLimit, data: new Uint8Array(limitBytes) })).toBeUndefined()
    const data = new Uint8Array(limitBytes + 1)
    expect(refusal({ to: null, gasLimit, data })).toEqual({
      code: 'INIT_CODE_TOO_LARGE',
      size: limitBytes + 1,
      limit: limitBytes,
    })
    expect(refusal({ gasLimit, data })).toBeUndefined()
  })

  test('init code of any size before Shanghai (EIP-3860)', () => {
    const setup = { params: paramsAt('paris') }
    const data = new Uint8Array(60 * 1_024)
    expect(refusal({ to: null, gasLimit: 10_000_000n, data }, setup)).toBeUndefined()
    expect(refusal({ to: null, gasLimit: 10_000_000n, data }, { params: paramsAt('shanghai') })).toMatchObject({
      code: 'INIT_CODE_TOO_LARGE',
    })
  })

  test('gas up to the cap of one transaction from Osaka on (EIP-7825)', () => {
    const osaka: ChainParams = {
      ...paramsAt('prague'),
      forks: forksWith(NETWORKS.devnet.forks, { osaka: 5 }),
      maxTxExecutionGas: null,
    }
    const cap = 16_777_216n
    expect(refusal({ gasLimit: cap + 1n }, { params: osaka, number: 4 })).toBeUndefined()
    expect(refusal({ gasLimit: cap }, { params: osaka, number: 5 })).toBeUndefined()
    expect(refusal({ gasLimit: cap + 1n }, { params: osaka, number: 5 })).toEqual({
      code: 'GAS_CAP_EXCEEDED',
      have: cap + 1n,
      limit: cap,
    })
  })

  test('types of the fork, a set-code transaction with an authorization at least', () => {
    expect(refusal({ type: 2 }, { params: paramsAt('berlin') })).toEqual({ code: 'TYPE_UNSUPPORTED', type: 2 })
    expect(refusal({ type: 1 }, { params: paramsAt('istanbul') })).toEqual({ code: 'TYPE_UNSUPPORTED', type: 1 })
    expect(refusal({ type: 4 }, { params: paramsAt('prague') })).toEqual({ code: 'NO_AUTHORIZATIONS' })
  })

  test('blobs of the version there is, no more than a block holds', () => {
    const params = { ...paramsAt('cancun'), blobForks: [{ height: 0, ...ETHEREUM_BLOBS.cancun }] }
    const blobs = (...blobVersionedHashes: Hex[]) =>
      refusal({ type: 3, gasLimit: 50_000n, maxFeePerBlobGas: 1n, blobVersionedHashes }, { params })
    const hash: Hex = `0x01${'00'.repeat(31)}`
    expect(blobs(hash)).toBeUndefined()
    expect(blobs()).toEqual({ code: 'NO_BLOBS' })
    expect(blobs(hash, `0x02${'00'.repeat(31)}`)).toMatchObject({ code: 'BLOB_VERSION_UNKNOWN' })
    expect(blobs(...Array<Hex>(7).fill(hash))).toEqual({ code: 'TOO_MANY_BLOBS', have: 7, limit: 6 })
  })

  test('no more intrinsic gas than one transaction may use', () => {
    const params: ChainParams = { ...NETWORKS.devnet, maxTxExecutionGas: 50_000n }
    expect(refusal({ gasLimit: 60_000n, data: new Uint8Array(300) }, { params })).toEqual({
      code: 'INTRINSIC_GAS',
      have: 50_000n,
      want: 51_000n,
    })
  })

  test('gas up to the block limit', () => {
    const limit = NETWORKS.devnet.blockGasLimit
    expect(refusal({ gasLimit: limit + 1n })).toEqual({ code: 'GAS_LIMIT_TOO_HIGH', have: limit + 1n, limit })
    const { pool, accounts } = createPool()
    accounts.balances.set(ALICE, limit * 30n * GWEI)
    expect(pool.admit(transaction({ from: ALICE, nonce: 0, gasLimit: limit }), 'local').status).toBe('pending')
  })

  test('chain id', () => {
    expect(refusal({ chainId: 1 })).toEqual({ code: 'INVALID_CHAIN_ID', have: 1, want: CHAIN_ID })
    expect(refusal({ chainId: undefined })).toEqual({ code: 'UNPROTECTED' })
    expect(refusal({ chainId: undefined }, { allowUnprotected: true })).toBeUndefined()
  })

  test('tip above the fee cap', () => {
    expect(refusal({ type: 2, maxFeePerGas: FLOOR, maxPriorityFeePerGas: FLOOR + 1n })).toEqual({
      code: 'TIP_ABOVE_FEE_CAP',
      tip: FLOOR + 1n,
      cap: FLOOR,
    })
  })

  test('the floor and the next base fee, with the figure that would do', () => {
    expect(refusal({ maxFeePerGas: FLOOR - 1n })).toEqual({ code: 'UNDERPRICED', gotWei: FLOOR - 1n, minWei: FLOOR })
    expect(refusal({ maxFeePerGas: FLOOR })).toBeUndefined()
    const baseFee = 40n * GWEI
    expect(refusal({ maxFeePerGas: baseFee - 1n }, { baseFee })).toMatchObject({ code: 'UNDERPRICED', minWei: baseFee })
    expect(refusal({ maxFeePerGas: baseFee }, { baseFee })).toBeUndefined()
    expect(refusal({ maxFeePerGas: 10n * GWEI }, { baseFee: 1n, params: live })).toMatchObject({ minWei: FLOOR })
    // A development chain may be told a base fee below the floor.
    expect(refusal({ maxFeePerGas: 10n * GWEI }, { baseFee: 1n })).toBeUndefined()
    expect(refusal({ maxFeePerGas: 1n }, { baseFee: 2n })).toMatchObject({ minWei: 2n })
    expect(refusal({ maxFeePerGas: 2_000n * GWEI })).toBeUndefined()
  })

  test('128 KiB', () => {
    const limitBytes = BLOCK_BOUNDS.transactionBytes
    expect(refusal({ raw: new Uint8Array(limitBytes) })).toBeUndefined()
    expect(refusal({ raw: new Uint8Array(limitBytes + 1) })).toEqual({
      code: 'OVERSIZED',
      sizeBytes: limitBytes + 1,
      limitBytes,
    })
  })
})

describe('account', () => {
  test('a contract cannot send (EIP-3607)', () => {
    const { pool, accounts } = createPool()
    accounts.contracts.add(ALICE)
    expect(refusalOf(() => pool.admit(transaction({ from: ALICE, nonce: 0 }), 'local'))).toEqual({
      code: 'SENDER_NOT_EOA',
      address: ALICE,
    })
  })

  test('an account that delegates can, from the fork on that knows delegations (EIP-7702)', () => {
    for (const [fork, refused] of [
      ['prague', undefined],
      ['cancun', { code: 'SENDER_NOT_EOA', address: ALICE }],
    ] as const) {
      const { pool, accounts } = createPool({ params: paramsAt(fork) })
      accounts.delegations.add(ALICE)
      expect(refusalOf(() => pool.admit(transaction({ from: ALICE, nonce: 0 }), 'local'))).toEqual(refused)
    }
  })

  test('an account beyond what the pool counts with sends nothing, and its next nonce is exact', () => {
    const { pool, accounts } = createPool()
    accounts.nonces.set(ALICE, 2n ** 63n + 1n)
    for (const nonce of [2n ** 63n, 2n ** 63n + 1n]) {
      expect(refusalOf(() => pool.admit(transaction({ from: ALICE, nonce }), 'local'))).toEqual({
        code: 'NONCE_MAX',
      })
    }
    expect(refusalOf(() => pool.admit(transaction({ from: ALICE, nonce: 5 }), 'local'))).toMatchObject({
      code: 'NONCE_TOO_LOW',
    })
    expect(pool.nextNonce(ALICE)).toBe(2n ** 63n + 1n)
  })

  test('nonce: the largest, used, next, gap', () => {
    for (const nonce of [Number.MAX_SAFE_INTEGER, 2n ** 53n, 2n ** 64n - 1n]) {
      expect(refusal({ nonce })).toEqual({ code: 'NONCE_MAX' })
    }
    const { pool, accounts } = createPool()
    accounts.nonces.set(ALICE, 7)
    expect(refusalOf(() => pool.admit(transaction({ from: ALICE, nonce: 6 }), 'local'))).toEqual({
      code: 'NONCE_TOO_LOW',
      expected: 7,
      got: 6,
    })
    expect(pool.admit(transaction({ from: ALICE, nonce: 7 }), 'local').status).toBe('pending')
    expect(pool.admit(transaction({ from: ALICE, nonce: 9 }), 'local').status).toBe('queued')
  })

  test('the balance pays gas and value, to the wei', () => {
    const { pool, accounts } = createPool()
    const tx = transaction({ from: ALICE, nonce: 0, value: TOKEN })
    const want = 21_000n * 30n * GWEI + TOKEN
    accounts.balances.set(ALICE, want - 1n)
    expect(refusalOf(() => pool.admit(tx, 'local'))).toEqual({ code: 'INSUFFICIENT_FUNDS', have: want - 1n, want })
    accounts.balances.set(ALICE, want)
    expect(pool.admit(tx, 'local').status).toBe('pending')
  })

  test('the balance pays for all ready transactions together', () => {
    const { pool, accounts } = createPool()
    const cost = 21_000n * 30n * GWEI
    accounts.balances.set(ALICE, 2n * cost)
    pool.admit(transaction({ from: ALICE, nonce: 0 }), 'local')
    pool.admit(transaction({ from: ALICE, nonce: 1 }), 'local')
    const third = transaction({ from: ALICE, nonce: 2 })
    expect(refusalOf(() => pool.admit(third, 'local'))).toEqual({
      code: 'INSUFFICIENT_FUNDS',
      have: 2n * cost,
      want: 3n * cost,
    })
  })

  test('a replacement is only charged the difference', () => {
    const { pool, accounts } = createPool()
    const cost = 21_000n * 30n * GWEI
    accounts.balances.set(ALICE, 2n * cost + cost / 10n)
    const first = transaction({ from: ALICE, nonce: 0 })
    pool.admit(first, 'local')
    pool.admit(transaction({ from: ALICE, nonce: 1 }), 'local')
    const dearer = transaction({ from: ALICE, nonce: 0, maxFeePerGas: 33n * GWEI })
    expect(pool.admit(dearer, 'local')).toMatchObject({ status: 'pending', replaced: first.hash })
    expect(
      refusalOf(() => pool.admit(transaction({ from: ALICE, nonce: 1, maxFeePerGas: 33n * GWEI }), 'local')),
    ).toMatchObject({
      code: 'INSUFFICIENT_FUNDS',
    })
  })

  test('intrinsic gas, with calldata at 100 a byte', () => {
    expect(refusal({ gasLimit: 20_999n })).toEqual({ code: 'INTRINSIC_GAS', have: 20_999n, want: 21_000n })
    expect(refusal({ gasLimit: 21_199n, data: new Uint8Array(2) })).toMatchObject({ want: 21_200n })
    expect(refusal({ gasLimit: 21_200n, data: new Uint8Array(2) })).toBeUndefined()
  })

  test('a refusal leaves nothing behind', () => {
    const { pool } = createPool()
    expect(refusalOf(() => pool.admit(transaction({ from: ALICE, nonce: 0, gasLimit: 1n }), 'local'))).toBeDefined()
    expect(pool.counts()).toEqual({ pending: 0, queued: 0 })
    expect(pool.senders).toBe(0)
  })
})

describe('replacement', () => {
  const replace = (old: Partial<Transaction>, fields: Partial<Transaction>) => {
    const { pool } = createPool()
    pool.admit(transaction({ from: ALICE, nonce: 0, ...old }), 'local')
    return refusalOf(() => pool.admit(transaction({ from: ALICE, nonce: 0, ...fields }), 'local'))
  }

  test('ten percent more on both fields', () => {
    const old = { type: 2, maxFeePerGas: 30n * GWEI, maxPriorityFeePerGas: 2n * GWEI } as const
    const minimum = { minFeeWei: 33n * GWEI, minTipWei: 2_200_000_000n }
    const enough = { type: 2, maxFeePerGas: 33n * GWEI, maxPriorityFeePerGas: 2_200_000_000n } as const
    expect(replace(old, enough)).toBeUndefined()
    const refused = { code: 'REPLACEMENT_UNDERPRICED', ...minimum }
    expect(replace(old, { ...enough, maxFeePerGas: 33n * GWEI - 1n })).toEqual(refused)
    expect(replace(old, { ...enough, maxPriorityFeePerGas: 2_199_999_999n })).toEqual(refused)
  })

  test('ten percent of an odd price is rounded up', () => {
    const old = { maxFeePerGas: 30n * GWEI + 1n, maxPriorityFeePerGas: 30n * GWEI + 1n }
    const minimum = 33n * GWEI + 2n
    expect(replace(old, { maxFeePerGas: minimum - 1n })).toMatchObject({
      code: 'REPLACEMENT_UNDERPRICED',
      minFeeWei: minimum,
    })
    expect(replace(old, { maxFeePerGas: minimum })).toBeUndefined()
  })

  test('a tip of zero may stay zero', () => {
    const old = { type: 2, maxFeePerGas: 30n * GWEI, maxPriorityFeePerGas: 0n } as const
    expect(replace(old, { ...old, maxFeePerGas: 33n * GWEI })).toBeUndefined()
    expect(replace(old, { ...old, gasLimit: 22_000n })).toMatchObject({ code: 'REPLACEMENT_UNDERPRICED' })
  })

  test('of a queued one', () => {
    const { pool } = createPool()
    const old = transaction({ from: ALICE, nonce: 3 })
    pool.admit(old, 'local')
    const next = transaction({ from: ALICE, nonce: 3, maxFeePerGas: 40n * GWEI })
    expect(pool.admit(next, 'local')).toEqual({ status: 'queued', replaced: old.hash, executable: [] })
    expect(pool.get(old.hash)).toBeUndefined()
    expect(pool.get(next.hash)).toBe(next)
  })
})

test('checks answer in the documented order', () => {
  const { pool, accounts } = createPool()
  accounts.nonces.set(ALICE, 5)
  accounts.balances.set(ALICE, 0n)
  const worst: Partial<Transaction> = {
    type: 3,
    to: null,
    data: new Uint8Array(2 * BLOCK_BOUNDS.codeBytes + 1),
    gasLimit: 10n ** 13n,
    chainId: 1,
    maxFeePerGas: 1n,
    maxPriorityFeePerGas: 2n,
    raw: new Uint8Array(BLOCK_BOUNDS.transactionBytes + 1),
    nonce: 4,
  }
  const repairs: readonly [string, Partial<Transaction>][] = [
    ['TYPE_UNSUPPORTED', { type: 2 }],
    ['INIT_CODE_TOO_LARGE', { data: new Uint8Array(1) }],
    ['GAS_LIMIT_TOO_HIGH', { gasLimit: 1n }],
    ['INVALID_CHAIN_ID', { chainId: CHAIN_ID }],
    ['TIP_ABOVE_FEE_CAP', { maxPriorityFeePerGas: 0n }],
    ['UNDERPRICED', { maxFeePerGas: FLOOR }],
    ['OVERSIZED', { raw: new Uint8Array(110) }],
    ['NONCE_TOO_LOW', { nonce: 5 }],
    ['INSUFFICIENT_FUNDS', {}],
    ['INTRINSIC_GAS', { gasLimit: 100_000n }],
  ]
  let fields = worst
  for (const [code, repair] of repairs) {
    const tx = transaction({ from: ALICE, nonce: 4, ...fields })
    expect(refusalOf(() => pool.admit(tx, 'local'))).toMatchObject({ code })
    fields = { ...fields, ...repair }
    if (code === 'INSUFFICIENT_FUNDS') accounts.balances.set(ALICE, TOKEN)
  }
  expect(pool.admit(transaction({ from: ALICE, nonce: 5, ...fields }), 'local').status).toBe('pending')
})
