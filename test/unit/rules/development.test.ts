import { EMPTY_BYTES, type Hex } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { describe, expect, test } from 'vitest'
import { DevWriter } from '../../../src/chain/dev/dev-writer.ts'
import { recoveryWithImpersonation } from '../../../src/chain/dev/impersonation.ts'
import { NextBlockSettings } from '../../../src/chain/dev/next-block.ts'
import { rewindTo } from '../../../src/chain/dev/rewind.ts'
import { NETWORKS, type NetworkParams } from '../../../src/config/networks.ts'
import { keccak256Hex } from '../../../src/crypto/hash.ts'
import { createExecutor } from '../../../src/evm/engines/executor.ts'
import type { ExecutionMode } from '../../../src/evm/executor-types.ts'
import { impersonationSignature } from '../../../src/primitives/transaction/impersonation.ts'
import { type Transaction, withSender } from '../../../src/primitives/transaction/transaction.ts'
import { encodeTransaction } from '../../../src/primitives/transaction/transaction-encoding.ts'
import { DevelopmentRules, impersonatedSenderOn } from '../../../src/rules/development.ts'
import { Journal } from '../../../src/state/journal/journal.ts'
import { ACCOUNTS, CHAIN_ID, START_WEI, testGenesis, withChain } from '../../support/chain.ts'
import { code, env, funded, withCode } from '../evm/world.ts'
import { createPool, refusalOf } from '../txpool/fixtures.ts'

const { mainnet, testnet, devnet } = NETWORKS
const CONTRACT: Hex = `0x${'0b'.repeat(20)}`

/** A transaction of a contract, which names its sender in the place of a signature. */
const impersonated = ({ chainId }: NetworkParams): Transaction => {
  const price = 750n * 10n ** 9n
  const fields = { type: 0, chainId, nonce: 1, gasLimit: 21_000n, to: ACCOUNTS[0] as Hex, value: 1n } as const
  const decoded = encodeTransaction(
    { ...fields, maxFeePerGas: price, maxPriorityFeePerGas: price, data: EMPTY_BYTES, accessList: [] },
    impersonationSignature(CONTRACT),
  )
  return withSender(decoded, { hash: keccak256Hex(decoded.raw), from: CONTRACT })
}

describe.each([
  ['mainnet', mainnet],
  ['testnet', testnet],
])('on %s', (_, params) => {
  test('no other chain grants the permission of a development chain', () => {
    expect(DevelopmentRules.of(params)).toBeNull()
    expect(impersonatedSenderOn(params, impersonated(params))).toBeUndefined()
  })

  test.each(['wasm', 'ethereumjs'] as const)(
    'execution by %s refuses an impersonated sender',
    async (mode: ExecutionMode) => {
      const executor = createExecutor({ mode, logger: silentLogger })
      const execute = (chain: NetworkParams) => {
        const state = withCode(funded([]), CONTRACT, code(0x00), START_WEI)
        return executor.execute(new Journal(state), env({ params: chain }), [impersonated(chain)])
      }
      await expect(execute(params)).rejects.toThrow('SENDER_NOT_EOA')
      expect((await execute(devnet)).receipts).toHaveLength(1)
    },
  )

  test('the pool refuses it', () => {
    const admit = (chain: NetworkParams) => {
      const { pool, accounts } = createPool({ params: chain })
      accounts.contracts.add(CONTRACT)
      accounts.nonces.set(CONTRACT, 1)
      return refusalOf(() => pool.admit(impersonated(chain), 'remote'))
    }
    expect(admit(params)).toEqual({ code: 'SENDER_NOT_EOA', address: CONTRACT })
    expect(admit(devnet)).toBeUndefined()
  })
})

test('bytes that name a sender recover to none in a node of any other chain', () =>
  withChain(async ({ pool }) => {
    const raw = impersonated({ ...testGenesis().params, chainId: CHAIN_ID }).raw
    await expect(pool.service.submit(raw)).rejects.toMatchObject({ code: 'INVALID_SENDER' })
  }))

test('what changes the past asks for the permission, in its types and when it runs', () =>
  withChain(async chain => {
    const none = DevelopmentRules.of(mainnet)
    const target = { number: 0, edits: 0 }
    const refused = 'only a development chain does this'
    // @ts-expect-error: may be null
    await expect(rewindTo({ ...chain, development: none }, target)).rejects.toThrow(refused)
    const options = { ...chain, logger: silentLogger, onFatal: () => {} }
    // @ts-expect-error: may be null
    await expect(DevWriter.open({ ...options, development: none })).rejects.toThrow(refused)
    // @ts-expect-error: may be null
    expect(() => new NextBlockSettings(mainnet, none)).toThrow(refused)
    // @ts-expect-error: may be null
    expect(() => recoveryWithImpersonation(chain.pool.recovery, none)).toThrow(refused)
    const development = DevelopmentRules.of(devnet)
    expect(development).not.toBeNull()
    if (development !== null) await rewindTo({ ...chain, development }, target)
  }))
