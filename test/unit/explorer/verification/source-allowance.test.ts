import { ZERO_HASH } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import type { VerifiedContract } from '@tandem/explorer/store/contract-store.ts'
import { SourceAllowance } from '@tandem/explorer/verification/jobs/source-allowance.ts'
import { Verifier } from '@tandem/explorer/verification/jobs/verifier.ts'
import { expect, test, vi } from 'vitest'
import { buildOf, compileNamed, inputOf, VERSION } from './verified-contracts.ts'

vi.setConfig({ testTimeout: 600_000 })

const HOUR_MS = 3_600_000

const allowanceOf = (limits: {
  readonly dayBytes: number
  readonly clientDayBytes: number
  readonly clients?: number
}) => {
  const time = { nowMs: 1_000 }
  return { time, allowance: new SourceAllowance(() => time.nowMs, { clients: 100, ...limits }) }
}

test('a client stores its share of a day, whatever others store; then it waits', () => {
  const { time, allowance } = allowanceOf({ dayBytes: 10_000, clientDayBytes: 240 })
  allowance.check('a')
  allowance.stored('a', 250)
  expect(() => allowance.check('a')).toThrow(/QUEUE_FULL/)
  allowance.check('b')
  time.nowMs += HOUR_MS / 2
  expect(() => allowance.check('a')).toThrow(/QUEUE_FULL/)
  time.nowMs += HOUR_MS
  allowance.check('a')
})

test('clients without number store no more than all may', () => {
  const { time, allowance } = allowanceOf({ dayBytes: 240, clientDayBytes: 100, clients: 2 })
  for (const client of ['a', 'b', 'c', 'd']) {
    allowance.check(client)
    allowance.stored(client, 60)
  }
  expect(() => allowance.check('e')).toThrow(/QUEUE_FULL/)
  time.nowMs += HOUR_MS
  allowance.check('e')
})

test('what a verification stores is charged to its client, who is refused before the next one compiles', async () => {
  const written: VerifiedContract[] = []
  const build = await buildOf()
  const { runtime, creation } = await compileNamed('Part')
  const { allowance } = allowanceOf({ dayBytes: 1_000_000, clientDayBytes: 1_000 })
  const verifier = new Verifier({
    compilers: { find: async () => build, versions: [VERSION] } as never,
    contracts: {
      contract: async () => undefined,
      writeContract: async (one: VerifiedContract) => written.push(one),
    } as never,
    contractCode: async address => ({
      ...{ address, codeHash: ZERO_HASH, creationTransaction: null },
      ...{ runtime: runtime.code, creation: creation.code },
    }),
    codeHash: async () => ZERO_HASH,
    isCreatedBy: async () => true,
    nowMs: () => 1_000,
    logger: silentLogger,
    allowance,
  })
  const submission = {
    address: `0x${'12'.repeat(20)}`,
    input: inputOf(),
    compiler: VERSION,
    contract: 'src/Plain.sol:Part',
    constructorArguments: new Uint8Array(),
  } as const
  const id = await verifier.submit(submission, 'a')
  await vi.waitUntil(() => verifier.job(id)?.finishedMs !== null, { timeout: 300_000 })
  expect(verifier.job(id)?.result).toMatchObject({ match: 'exact' })
  expect(written).toHaveLength(1)
  await expect(verifier.submit(submission, 'a')).rejects.toThrow(/QUEUE_FULL/)
  allowance.check('b')
})
