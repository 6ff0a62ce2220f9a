import { EMPTY_BYTES, type Hex } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import type { Nonce } from '@tandem/base/uint64.ts'
import { NETWORKS } from '../../../src/config/networks.ts'
import type { Transaction } from '../../../src/primitives/transaction/transaction.ts'
import type { SenderCode } from '../../../src/rules/transaction.ts'
import type { AccountReader, PoolLimits, TxPoolOptions } from '../../../src/txpool/pool/types.ts'
import { TxPool } from '../../../src/txpool/pool.ts'

export const GWEI = 10n ** 9n
export const TOKEN = 10n ** 18n
export const FLOOR = 25n * GWEI
export const CHAIN_ID = NETWORKS.devnet.chainId

export const address = (n: number): Hex => `0x${n.toString(16).padStart(40, '0')}`

let counter = 0

/** A transfer at 30 gwei unless said otherwise; its hash is made up, and no signature stands behind the sender. */
export const transaction = (
  fields: Partial<Transaction> & { readonly from: Hex; readonly nonce: Nonce },
): Transaction => {
  const maxFeePerGas = fields.maxFeePerGas ?? 30n * GWEI
  return {
    type: 0,
    chainId: CHAIN_ID,
    gasLimit: 21_000n,
    maxFeePerGas,
    maxPriorityFeePerGas: maxFeePerGas,
    to: address(0xffff),
    value: 0n,
    data: EMPTY_BYTES,
    accessList: [],
    v: 27n,
    r: EMPTY_BYTES,
    s: EMPTY_BYTES,
    raw: new Uint8Array(110),
    hash: `0x${(++counter).toString(16).padStart(64, '0')}`,
    ...fields,
  }
}

/** Head state in a map; everybody else has 1,000 tokens and nonce 0. */
export class Accounts implements AccountReader {
  readonly nonces = new Map<Hex, Nonce>()
  readonly balances = new Map<Hex, bigint>()
  readonly contracts = new Set<Hex>()
  readonly delegations = new Set<Hex>()
  readonly #balance: bigint

  constructor(balance = 1_000n * TOKEN) {
    this.#balance = balance
  }

  nonce(who: Hex): Nonce {
    return this.nonces.get(who) ?? 0
  }
  balance(who: Hex): bigint {
    return this.balances.get(who) ?? this.#balance
  }
  code(who: Hex): SenderCode {
    if (this.delegations.has(who)) return 'delegation'
    return this.contracts.has(who) ? 'contract' : 'none'
  }
}

export const SMALL_LIMITS: PoolLimits = {
  slotBytes: 1_024,
  accountPending: 2,
  accountQueued: 3,
  pending: 8,
  queued: 6,
  replacementBumpPercent: 10,
  lifetimeSweeps: 10,
  sweepMs: 1_000,
}

export const createPool = (options: Partial<TxPoolOptions> = {}): { pool: TxPool; accounts: Accounts } => {
  const accounts = (options.accounts as Accounts | undefined) ?? new Accounts()
  const pool = new TxPool({ params: NETWORKS.devnet, accounts, number: 1, baseFee: FLOOR, ...options })
  return { pool, accounts }
}

/** The detail of the CodedError that `fn` throws; undefined when it throws nothing. */
export const refusalOf = (fn: () => unknown): unknown => {
  try {
    fn()
  } catch (error) {
    if (isCoded(error)) return error.detail
    throw error
  }
  return undefined
}

export const selected = (pool: TxPool, baseFee?: bigint): Transaction[] => {
  const selection = pool.select(baseFee)
  const out: Transaction[] = []
  for (let tx = selection.next(); tx !== undefined; tx = selection.next()) out.push(tx)
  return out
}
