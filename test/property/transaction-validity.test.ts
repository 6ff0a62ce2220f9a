import { type Hex, toWord } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { expect, test } from 'vitest'
import { ETHEREUM_BLOBS } from '../../devtools/ethereum-params.ts'
import { EVM_FORKS, type EvmFork } from '../../src/config/forks.ts'
import type { ChainParams } from '../../src/config/networks.ts'
import type { BlockEnv } from '../../src/evm/block-env.ts'
import { runOracle } from '../../src/evm/engines/ethereumjs/block-vm.ts'
import { createExecutor } from '../../src/evm/engines/executor.ts'
import { delegationCode } from '../../src/primitives/transaction/delegation.ts'
import type { Transaction } from '../../src/primitives/transaction/transaction.ts'
import { executionRulesAt } from '../../src/rules/execution-rules.ts'
import { minimumGas } from '../../src/rules/intrinsic-gas.ts'
import { maxCostWei } from '../../src/rules/transaction.ts'
import { Journal } from '../../src/state/journal/journal.ts'
import type { AccountReader } from '../../src/txpool/pool/types.ts'
import { TxPool } from '../../src/txpool/pool.ts'
import { env, funded, GWEI, key, paramsAt, signed, withCode } from '../unit/evm/world.ts'
import type { MemoryState } from '../unit/state/memory-state.ts'
import { createRandom, type Random } from './executor-plans.ts'

/*
 * Random transactions of random accounts under every fork, mostly one step from a bound: our verdict against the acceptance of EthereumJS'
 * VM, and the pool against the block. COUNT= for more of each fork, SEED= for others.
 */
const SEED = Number(process.env['SEED'] ?? 20_251_122)
const COUNT = Number(process.env['COUNT'] ?? 60)

const ALICE = key(1)
const BOB = key(2)
const BLOCK_GAS = 20_000_000n
const CONTRACT_CODE = Uint8Array.of(0x5b)

const paramsOf = (fork: EvmFork): ChainParams => ({
  ...paramsAt(fork),
  devHelpers: false,
  blockGasLimit: BLOCK_GAS,
  maxBlockExecutionGas: BLOCK_GAS,
  maxTxExecutionGas: BLOCK_GAS,
  calldataGasPerByte: null,
  blobForks: EVM_FORKS.indexOf(fork) < EVM_FORKS.indexOf('cancun') ? [] : [{ height: 0, ...ETHEREUM_BLOBS.cancun }],
})

const blockOf = (params: ChainParams): BlockEnv => ({
  ...env({ params, gasLimit: params.blockGasLimit }),
  ...(params.blobForks.length > 0 && { blobs: { baseFeePerGas: 3n, maxPerBlock: ETHEREUM_BLOBS.cancun.max } }),
})

type Fields = Parameters<typeof signed>[1]

const dataFor = (random: Random, isCreation: boolean): Uint8Array => {
  if (isCreation && random.chance(5)) return new Uint8Array(49_151 + random.int(4))
  return random.bytes(random.pick([0, 0, 1, 40]))
}

const kindFor = (random: Random, type: number): Fields => {
  if (type === 3) {
    const version = random.chance(6) ? 2n : 1n
    const hashes = Array.from({ length: random.int(9) }, (_, at) => toWord((version << 248n) + BigInt(at)))
    return { blobVersionedHashes: hashes, maxFeePerBlobGas: BigInt(2 + random.int(3)) }
  }
  if (type !== 4) return {}
  const one = { chainId: 0n, address: BOB.address, nonce: 5n, yParity: 0, r: Uint8Array.of(1), s: Uint8Array.of(1) }
  return { authorizationList: random.chance(4) ? [] : [one] }
}

/** Mostly valid but for one or two fields. */
const draw = (random: Random, params: ChainParams): Transaction => {
  const { newestType, hasReplayProtection } = executionRulesAt(params, 1_000)
  const type = random.pick(([0, 0, 1, 2, 2, 3, 4] as const).filter(kind => kind <= newestType + 1))
  const to = type < 3 && random.chance(3) ? null : BOB.address
  const cap = random.chance(5) ? 25n * GWEI - 1n + BigInt(random.int(3)) : 30n * GWEI
  const tip = type < 2 ? cap : random.chance(5) ? cap - 1n + BigInt(random.int(3)) : 1n
  const data = dataFor(random, to === null)
  const base: Fields = {
    type,
    chainId:
      type === 0 && random.chance(hasReplayProtection ? 3 : 1) ? undefined : random.chance(8) ? 1 : params.chainId,
    nonce: random.chance(4) ? 2 + random.int(3) : 3,
    to,
    data,
    value: BigInt(random.int(3)),
    maxFeePerGas: cap,
    maxPriorityFeePerGas: tip,
    accessList: type > 0 && random.chance(3) ? [{ address: BOB.address, storageKeys: [toWord(1n)] }] : [],
    ...kindFor(random, type),
  }
  return signed(ALICE, { ...base, gasLimit: gasFor(random, signed(ALICE, base), params) })
}

const gasFor = (random: Random, tx: Transaction, params: ChainParams): bigint => {
  const least = minimumGas(tx, executionRulesAt(params, 1_000).intrinsic)
  const near = (bound: bigint): bigint => bound - 1n + BigInt(random.int(3))
  if (random.chance(4)) return near(least)
  if (random.chance(6)) return near(16_777_216n)
  if (random.chance(8)) return near(BLOCK_GAS)
  return least + BigInt(random.int(300_000))
}

/** The sender's account: its code, and a balance that is often one wei off. */
const stateFor = (random: Random, tx: Transaction): { readonly state: MemoryState; readonly code: Hex | 'none' } => {
  const cost = maxCostWei(tx)
  const balance = random.chance(4) ? cost - 1n + BigInt(random.int(2)) : cost * 2n
  const state = funded([BOB])
  const code = random.pick(['none', 'none', 'none', 'none', 'contract', 'delegation'] as const)
  withCode(state, ALICE.address, code === 'delegation' ? delegationCode(BOB.address) : CONTRACT_CODE, balance)
  const account = state.accounts.get(ALICE.address)
  Object.assign(
    account as object,
    { nonce: 3 },
    code === 'none' && { codeHash: state.accounts.get(BOB.address)?.codeHash },
  )
  return { state, code: code as Hex | 'none' }
}

const executor = createExecutor({ mode: 'wasm', logger: silentLogger })

/** Code of our reason; undefined: valid. */
const ours = async (state: MemoryState, block: BlockEnv, tx: Transaction): Promise<string | undefined> => {
  try {
    await executor.execute(new Journal(state), block, [tx])
    return undefined
  } catch (error) {
    if (!isCoded(error) || !('reason' in error.detail)) throw error
    return (error.detail.reason as { code: string }).code
  }
}

const theirs = async (state: MemoryState, block: BlockEnv, tx: Transaction): Promise<string | undefined> => {
  try {
    await runOracle(new Journal(state), block, [tx], [])
    return undefined
  } catch (error) {
    if (!isCoded(error) || error.code !== 'ORACLE_REFUSED') throw error
    return error.message
  }
}

const pooled = (state: MemoryState, params: ChainParams, tx: Transaction, code: string): string | undefined => {
  const accounts: AccountReader = {
    nonce: address => state.account(address)?.nonce ?? 0,
    balance: address => state.account(address)?.balance ?? 0n,
    code: () => code as 'none' | 'contract' | 'delegation',
  }
  try {
    new TxPool({ params, accounts, number: 1_000, baseFee: 25n * GWEI }).admit(tx, 'remote')
    return undefined
  } catch (error) {
    if (!isCoded(error)) throw error
    return error.code
  }
}

/** Refusals of the pool that are no rule of the chain. */
const POLICY: readonly (string | undefined)[] = ['UNPROTECTED', 'UNDERPRICED', 'OVERSIZED']
/** Errors that keep a transaction out of this block but not out of the pool. */
const LATER: readonly (string | undefined)[] = ['NONCE_TOO_HIGH', 'BLOB_FEE_TOO_LOW', undefined]

test.each(EVM_FORKS)(`${COUNT} transactions under %s: block, pool and VM agree (SEED=${SEED})`, async fork => {
  const random = createRandom(SEED + EVM_FORKS.indexOf(fork))
  const params = paramsOf(fork)
  const block = blockOf(params)
  const seen = new Map<string, number>()
  for (let at = 0; at < COUNT; at++) {
    const tx = draw(random, params)
    const { state, code } = stateFor(random, tx)
    const reason = await ours(state, block, tx)
    const refusal = await theirs(state, block, tx)
    const told = () => `SEED=${SEED} ${fork} #${at}: ours ${reason}, the VM's ${refusal}, pool ${pool}`
    const pool = pooled(state, params, tx, code)
    expect(reason === undefined, told()).toBe(refusal === undefined)
    if (pool === undefined) expect(LATER, told()).toContain(reason)
    else if (reason === undefined) expect(POLICY, told()).toContain(pool)
    seen.set(reason ?? 'valid', (seen.get(reason ?? 'valid') ?? 0) + 1)
  }
  // The mix is only worth something while both outcomes are in it.
  expect(seen.get('valid') ?? 0, `SEED=${SEED}`).toBeGreaterThan(COUNT / 20)
  expect(seen.size, `SEED=${SEED}`).toBeGreaterThan(3)
})
