import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EMPTY_BYTES, type Hex } from '@tandem/base/bytes.ts'
import type { Clock } from '@tandem/base/clock.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { nativeRules } from '../../src/chain/block/header-assembly.ts'
import { Chain } from '../../src/chain/chain.ts'
import type { Genesis } from '../../src/config/genesis/genesis.ts'
import { BUILD_LIMITS } from '../../src/config/limits/execution.ts'
import { keccak256 } from '../../src/crypto/hash.ts'
import { addressFromPrivateKey } from '../../src/crypto/signature.ts'
import type { Engine } from '../../src/evm/engine.ts'
import { createExecutor } from '../../src/evm/engines/executor.ts'
import type { ExecutionMode } from '../../src/evm/executor-types.ts'
import { devnetGenesis } from '../../src/node/genesis/devnet-genesis.ts'
import { openChain } from '../../src/node/parts/open-chain.ts'
import { createPoolParts } from '../../src/node/parts/pool.ts'
import type { Block } from '../../src/primitives/block.ts'
import type { Certificate } from '../../src/primitives/consensus/certificate.ts'
import type { UnsignedTransaction } from '../../src/primitives/transaction/transaction-encoding.ts'
import { signedBy } from './signed-by.ts'

export const CHAIN_ID = 1_998_999
export const keyOf = (seed: number): Uint8Array => keccak256(Uint8Array.of(0x6b, seed))
export const VALIDATOR_KEY = keyOf(255)
export const VALIDATOR = addressFromPrivateKey(VALIDATOR_KEY)
export const ACCOUNT_KEYS = [1, 2, 3, 4].map(keyOf)
export const ACCOUNTS: readonly Hex[] = ACCOUNT_KEYS.map(addressFromPrivateKey)
export const START_WEI = 10n ** 22n

/** A development chain of one validator. */
export const devGenesis = (): Genesis =>
  devnetGenesis({ accounts: ACCOUNTS, balanceWei: START_WEI, validator: VALIDATOR, blockTimeMs: 1000 })

/** The same with the rules of every other network. */
export const testGenesis = (): Genesis => {
  const genesis = devGenesis()
  return { ...genesis, params: { ...genesis.params, devHelpers: false } }
}

/** A certificate for tests of storage: nothing below consensus looks at its seals. */
export const CERTIFICATE: Certificate = { round: 0, bitmap: Uint8Array.of(1), seals: [new Uint8Array(65).fill(7)] }

/** Raw bytes of a transaction signed by one of the test accounts. */
export const signedRaw = (key: Uint8Array, fields: Partial<UnsignedTransaction>): Uint8Array => {
  const unsigned: UnsignedTransaction = {
    type: 0,
    chainId: CHAIN_ID,
    nonce: 0,
    gasLimit: 21_000n,
    maxFeePerGas: 27_500_000_000n,
    maxPriorityFeePerGas: 27_500_000_000n,
    to: ACCOUNTS[1] as Hex,
    value: 0n,
    data: EMPTY_BYTES,
    accessList: [],
    ...fields,
  }
  return signedBy(unsigned, key).raw
}

/** A clock that stands at genesis and moves when told. */
class TestClock implements Clock {
  ms = 1_735_689_600_000
  nowMs(): number {
    return this.ms
  }
  schedule(): () => void {
    return () => {}
  }
}

/** The chain with its storage, state, executor and pool, and without consensus and faces: the test decides when blocks are made. */
export const openTestChain = async (
  dir: string,
  options: {
    readonly mode?: ExecutionMode
    readonly genesis?: Genesis
    readonly engine?: Engine
    readonly ephemeral?: boolean
    readonly segmentBlocks?: number
  } = {},
) => {
  const genesis = options.genesis ?? testGenesis()
  const clock = new TestClock()
  const logger = silentLogger
  const failures: Error[] = []
  const opened = await openChain({
    genesis,
    storePath: join(dir, 'db'),
    stateHistory: 128,
    segmentBlocks: options.segmentBlocks,
    logger,
    ...(options.ephemeral && { ephemeral: true }),
    onFailure: error => failures.push(error),
  })
  const { mode = 'shadow', engine } = options
  const executor = createExecutor({ mode, logger, reproductionDir: join(dir, 'shadow'), ...(engine && { engine }) })
  const pool = createPoolParts({
    params: genesis.params,
    head: opened.head.block.header,
    state: opened.world.head,
    dataDir: dir,
    allowUnprotected: false,
    clock,
    logger,
  })
  const chain = new Chain({ ...opened, executor, pool: pool.side, clock, logger })
  await pool.service.start()
  const build = (proposer = VALIDATOR): Promise<Block> => {
    const head = chain.head()
    clock.ms += 1000
    return chain.build({
      number: head.number + 1,
      round: 0,
      parentHash: head.hash,
      timestamp: Math.floor(clock.ms / 1000),
      proposer,
      parentCertificate: head.certificate,
      budgetMs: BUILD_LIMITS.buildMs,
      transactionMs: BUILD_LIMITS.buildMs,
      gasShare: 1,
    })
  }
  return {
    ...opened,
    rules: nativeRules(opened.sources),
    blockTimeMs: genesis.params.blockTimeMs,
    genesis,
    clock,
    executor,
    pool,
    chain,
    failures,
    /** The next block of a proposer, not committed. */
    build,
    /** Builds and commits the next block. */
    async mine(): Promise<Block> {
      const block = await build()
      await chain.commit(block, CERTIFICATE)
      return block
    },
    async close(): Promise<void> {
      await pool.service.close()
      await pool.recovery.close()
      await opened.evidence.written()
      await opened.world.close()
      await opened.store.close()
    },
  }
}
export type TestChain = Awaited<ReturnType<typeof openTestChain>>

export const withChain = async <T>(
  use: (chain: TestChain, dir: string) => Promise<T>,
  options: Parameters<typeof openTestChain>[1] = {},
): Promise<T> => {
  const dir = mkdtempSync(join(tmpdir(), 'tandem-chain-'))
  const chain = await openTestChain(dir, options)
  try {
    return await use(chain, dir)
  } finally {
    await chain.close()
    rmSync(dir, { recursive: true, force: true })
  }
}
