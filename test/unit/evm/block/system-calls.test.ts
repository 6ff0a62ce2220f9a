import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Hex, toWord, ZERO_HASH } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { afterAll, describe, expect, test } from 'vitest'
import { forksWith } from '../../../../src/config/forks.ts'
import { NETWORKS } from '../../../../src/config/networks.ts'
import { SYSTEM_ADDRESS } from '../../../../src/evm/block/system-calls.ts'
import type { BeaconEnv, BlockEnv } from '../../../../src/evm/block-env.ts'
import { createExecutor } from '../../../../src/evm/engines/executor.ts'
import type { ExecutionMode } from '../../../../src/evm/executor-types.ts'
import { Journal } from '../../../../src/state/journal/journal.ts'
import type { MemoryState } from '../../state/memory-state.ts'
import { env, funded, GWEI, key, signed, withCode } from '../world.ts'

const BEACON_ROOTS: Hex = '0x000f3df6d732807ef1319fb7b8bb8522d0beac02'
const BLOCK_HASHES: Hex = '0x0000f90827f1c53a10cb7a02335b175320002935'
const WITHDRAWALS: Hex = '0x00000961ef480eb55e80d19ad83579a64c007002'
const CONSOLIDATIONS: Hex = '0x0000bbddc7ce488642fb579f8b00f3a590007251'
const ROOT: Hex = `0x${'be'.repeat(32)}`

/** sstore(0, calldataload(0)); sstore(1, caller) */
const KEEP = Uint8Array.of(0x5f, 0x35, 0x5f, 0x55, 0x33, 0x60, 0x01, 0x55)
/** Answers three bytes: 7, 7, 7. */
const ANSWER = Uint8Array.of(0x62, 7, 7, 7, 0x5f, 0x52, 0x60, 3, 0x60, 29, 0xf3)
const SILENT = Uint8Array.of(0x00)
const REVERT = Uint8Array.of(0x5f, 0x5f, 0xfd)

const alice = key(1)
const forksTo = (last: 'cancun' | 'prague') =>
  forksWith(NETWORKS.devnet.forks, { prague: last === 'prague' ? 0 : null })
const block = (last: 'cancun' | 'prague', beacon?: BeaconEnv): BlockEnv =>
  env({ params: { ...NETWORKS.devnet, forks: forksTo(last) }, ...(beacon && { beacon }) })
const parentSlot = ({ number }: BlockEnv) => toWord(BigInt((number - 1) % 8_191))
const BEACON: BeaconEnv = { parentRoot: ROOT, depositContract: `0x${'de'.repeat(20)}` }

const dir = mkdtempSync(join(tmpdir(), 'tandem-system-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** A block with one transfer, in a world with these contracts. */
const execute = async (mode: ExecutionMode, contracts: Readonly<Record<Hex, Uint8Array>>, at: BlockEnv) => {
  let state: MemoryState = funded([alice])
  for (const [address, code] of Object.entries(contracts) as [Hex, Uint8Array][]) state = withCode(state, address, code)
  const journal = new Journal(state)
  const executor = createExecutor({ mode, logger: silentLogger, reproductionDir: dir })
  const transfer = signed(alice, { to: `0x${'77'.repeat(20)}`, value: 1n, gasLimit: 21_000n, maxFeePerGas: 30n * GWEI })
  return { execution: await executor.execute(journal, at, [transfer]), journal }
}

describe.each<ExecutionMode>(['wasm', 'ethereumjs', 'shadow'])('in mode %s', mode => {
  test('contracts receive the beacon root and the parent hash, from an account without state and without gas', async () => {
    const contracts = { [BEACON_ROOTS]: KEEP, [BLOCK_HASHES]: KEEP, [WITHDRAWALS]: SILENT, [CONSOLIDATIONS]: SILENT }
    const at = block('prague', BEACON)
    const { execution, journal } = await execute(mode, contracts, at)
    expect(journal.storage(BEACON_ROOTS, toWord(0n))).toBe(ROOT)
    expect(journal.storage(BEACON_ROOTS, toWord(1n))).toBe(toWord(BigInt(SYSTEM_ADDRESS)))
    expect(journal.storage(BLOCK_HASHES, parentSlot(at))).toBe(at.blockHash(at.number - 1))
    expect(journal.exists(SYSTEM_ADDRESS)).toBe(false)
    expect(execution).toMatchObject({ gasUsed: 21_000n, requests: [] })
  })

  test('before Prague only the beacon root, without a consensus layer only the hash', async () => {
    const contracts = { [BEACON_ROOTS]: KEEP, [BLOCK_HASHES]: KEEP }
    const cancun = await execute(mode, contracts, block('cancun', BEACON))
    expect(cancun.journal.storage(BEACON_ROOTS, toWord(0n))).toBe(ROOT)
    expect(cancun.journal.storage(BLOCK_HASHES, parentSlot(block('cancun')))).toBe(ZERO_HASH)
    expect(cancun.execution.requests).toBeUndefined()
    const alone = await execute(mode, contracts, block('prague'))
    expect(alone.journal.storage(BEACON_ROOTS, toWord(0n))).toBe(ZERO_HASH)
    expect(alone.journal.storage(BLOCK_HASHES, parentSlot(block('prague')))).not.toBe(ZERO_HASH)
    expect(alone.execution.requests).toBeUndefined()
  })

  test('what validators ask for is taken from its queues, with its type', async () => {
    const contracts = { [WITHDRAWALS]: SILENT, [CONSOLIDATIONS]: ANSWER }
    const { execution } = await execute(mode, contracts, block('prague', BEACON))
    expect(execution.requests?.map(request => [...request])).toEqual([[2, 7, 7, 7]])
  })

  test.each([
    ['is not there', { [CONSOLIDATIONS]: SILENT }],
    ['reverts', { [WITHDRAWALS]: REVERT, [CONSOLIDATIONS]: SILENT }],
  ])('a block whose queue %s is not valid', async (_, contracts) => {
    await expect(execute(mode, contracts, block('prague', BEACON))).rejects.toMatchObject({
      detail: { code: 'SYSTEM_CALL_FAILED', to: WITHDRAWALS },
    })
  })
})
