import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hexToBytes } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { expect, onTestFinished, test } from 'vitest'
import { verifyChain } from '../../../src/chain/verify-chain.ts'
import { explainError } from '../../../src/cli/shared/explain-error.ts'
import { forksWith } from '../../../src/config/forks.ts'
import type { Genesis } from '../../../src/config/genesis/genesis.ts'
import { createLogger } from '../../../src/node/logging.ts'
import { openChain } from '../../../src/node/parts/open-chain.ts'
import { ACCOUNT_KEYS, CERTIFICATE, openTestChain, signedRaw, testGenesis, withChain } from '../../support/chain.ts'
import { forgetTrie } from '../state/world.ts'

const temporary = (): string => {
  const dir = mkdtempSync(join(tmpdir(), 'tandem-start-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

interface Report {
  readonly workers: readonly unknown[]
}
const workersNow = (): number => (process.report.getReport() as unknown as Report).workers.length

test('a folder that cannot be opened leaves no thread behind', async () => {
  const dir = temporary()
  mkdirSync(join(dir, 'db'))
  // LevelDB names its manifest in this file.
  writeFileSync(join(dir, 'db', 'CURRENT'), 'nonsense\n')
  const before = workersNow()
  const options = { genesis: testGenesis(), storePath: join(dir, 'db'), stateHistory: 128, logger: silentLogger }
  await expect(openChain({ ...options, onFailure: () => {} })).rejects.toMatchObject({ code: 'STORE_OPEN_FAILED' })
  // Threads that were started before the failure end by themselves, after a moment.
  await expect.poll(workersNow).toBe(before)
})

test('a start that builds the state trie says how far it is', async () => {
  const dir = temporary()
  const chain = await openTestChain(dir)
  await chain.mine()
  await chain.close()
  const storePath = join(dir, 'db')
  await forgetTrie(storePath)
  const lines: string[] = []
  const logger = createLogger({ level: 'info', format: 'json', destination: { write: line => void lines.push(line) } })
  const { world, store } = await openChain({
    ...{ genesis: testGenesis(), storePath, stateHistory: 128, logger, onFailure: () => {} },
  })
  expect(lines.join('')).toMatch(/"accounts":[1-9]\d*,"slots":\d+,"percent":\d+,"msg":"building the state trie"/)
  await world.close()
  await store.close()
})

/** Genesis with Osaka from a block on; null: never. */
const osakaAt = (osaka: number | null): Genesis => {
  const genesis = testGenesis()
  return { ...genesis, params: { ...genesis.params, forks: forksWith(genesis.params.forks, { osaka }) } }
}

test('a folder goes on with forks that its blocks have not reached, and is refused with others for those that they have', async () => {
  const dir = temporary()
  const open = (osaka: number | null) => openTestChain(dir, { genesis: osakaAt(osaka) })
  const first = await open(5)
  await first.mine()
  await first.close()
  for (const later of [2, null, 3]) await (await open(later)).close()
  const upgraded = await open(3)
  for (let block = 0; block < 2; block++) await upgraded.mine()
  await upgraded.close()
  for (const [other, text] of [
    [null, 'is at block 3; the options given have it not scheduled'],
    [2, 'is at block 3; the options given have it at block 2'],
    [4, 'is at block 3; the options given have it at block 4'],
  ] as const) {
    const error = await open(other).catch(refused => refused)
    expect(error).toMatchObject({ code: 'FORKS_CHANGED', detail: { fork: 'osaka', head: 3 } })
    expect(isCoded(error) && explainError(error.detail)).toContain(text)
  }
  await (await open(3)).close()
})

test('a node that a fork has left behind stops at the first block that its rules refuse, says why, and keeps what it has', () =>
  withChain(
    upgraded =>
      withChain(
        async behind => {
          expect(behind.genesisHash).toBe(upgraded.genesisHash)
          // PUSH1 1, CLZ (EIP-7939): an unknown instruction before Osaka.
          const data = hexToBytes('0x60011e00')
          await upgraded.pool.service.submit(
            signedRaw(ACCOUNT_KEYS[0] as Uint8Array, { to: null, data, gasLimit: 200_000n }),
          )
          const decided = await upgraded.mine()
          expect(decided.transactions.length).toBe(1)
          const stopped = await behind.chain.commit(decided, CERTIFICATE).catch(error => error)
          expect(stopped).toMatchObject({ code: 'RULES_MISMATCH', detail: { number: 1 } })
          expect(explainError(stopped.detail)).toContain('lacks a fork of the network')
          expect(behind.chain.head().number).toBe(0)
          expect((await verifyChain(behind.store, { from: 0 })).problems).toEqual([])
        },
        { genesis: osakaAt(null), mode: 'wasm' },
      ),
    { genesis: osakaAt(0), mode: 'wasm' },
  ))

test('a folder of another chain is refused with what is there and what was wanted', async () => {
  const dir = temporary()
  const genesis = testGenesis()
  await (await openTestChain(dir, { genesis })).close()
  const later = openTestChain(dir, { genesis: { ...genesis, timestamp: 1 } })
  await expect(later).rejects.toMatchObject({ code: 'GENESIS_MISMATCH' })
  const elsewhere = openTestChain(dir, { genesis: { ...genesis, params: { ...genesis.params, name: 'testnet' } } })
  await expect(elsewhere).rejects.toMatchObject({
    detail: { code: 'NETWORK_MISMATCH', found: 'devnet', expected: 'testnet' },
  })
})

test('a start that ends with a journal that cannot be written says what to do', () => {
  expect(explainError({ code: 'JOURNAL_FAILED' })).toContain('Free disk space')
})
