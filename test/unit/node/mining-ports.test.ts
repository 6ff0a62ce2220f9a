import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bytesToHex, type Hex, toQuantity, ZERO_HASH } from '@tandem/base/bytes.ts'
import { systemClock } from '@tandem/base/clock.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { expect, onTestFinished, test } from 'vitest'
import { startNode } from '../../../src/node/node.ts'
import type { NodeOptions } from '../../../src/node/options.ts'
import { searchNonces } from '../../../src/powchain/mining/search.ts'
import { devGenesis, testGenesis, VALIDATOR_KEY } from '../../support/chain.ts'
import { rpc } from '../../support/devnet.ts'
import { MINER } from '../../support/powchain/headers.ts'
import { StratumClient } from '../../support/powchain/stratum-server.ts'

const start = async (options: Pick<NodeOptions, 'genesis' | 'mining' | 'stratum'>) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'tandem-mining-'))
  const node = await startNode(
    {
      ...options,
      dataDir,
      execution: 'wasm',
      stateHistory: 128,
      host: '127.0.0.1',
      port: 0,
      operatorPort: 0,
      allowUnprotected: false,
      validatorKey: VALIDATOR_KEY,
      unlocked: [],
      ephemeral: true,
    },
    { logger: silentLogger, clock: systemClock, onFatal: error => expect.unreachable(error.message) },
  )
  onTestFinished(async () => {
    await node.stop()
    rmSync(dataDir, { recursive: true, force: true })
  })
  return node.urls
}

const codeOf = (answer: Promise<unknown>) =>
  answer.then(
    () => 'answered',
    error => error.rpcCode,
  )
const MINING = ['getWork', 'submitWork', 'submitHashrate'].flatMap(name => [`native_${name}`, `eth_${name}`])

test('a public port hands out no work, and the operator port does', async () => {
  const { http, operator } = await start({ genesis: testGenesis() })
  for (const method of MINING) expect(await codeOf(rpc(http, method, [MINER])), method).toBe(-32601)
  expect(await rpc(http, 'eth_mining')).toBe(false)
  expect(await rpc(http, 'native_proofBlockNumber')).toBe('0x0')
  expect((await fetch(`${http}/work?coinbase=${MINER}`)).status).toBe(404)
  expect((await fetch(`${operator}/work?coinbase=${MINER}`)).status).toBe(200)
  const work = await rpc<string[]>(operator as string, 'native_getWork', [MINER])
  expect(work).toHaveLength(4)
  expect(await codeOf(rpc(operator as string, 'eth_getWork')), 'nobody to pay').toBe(-32000)
})

test('a development chain hands it out on its one port', async () => {
  const { http } = await start({ genesis: devGenesis() })
  const work = await rpc<Hex[]>(http, 'eth_getWork', [MINER])
  expect(work).toHaveLength(4)
  const [sealHash, , target] = work as [Hex, Hex, Hex]
  const search = { version: 1, sealHash, target: BigInt(target), prefix: Uint8Array.of(0), from: 0 }
  const { found } = await searchNonces({ ...search, budgetMs: Number.POSITIVE_INFINITY })
  // Miners that count write it without leading zeros.
  const nonce = toQuantity(BigInt(bytesToHex(found?.nonce as Uint8Array)))
  expect(await rpc(http, 'eth_submitWork', [nonce, sealHash, ZERO_HASH])).toBe(true)
  await expect(rpc(http, 'eth_submitWork', [`0x${'1'.repeat(17)}`, sealHash, ZERO_HASH])).rejects.toThrow('odd length')
})

test('a public port does not tell of the miner behind it, and the operator port does', async () => {
  const { http, operator } = await start({
    genesis: testGenesis(),
    mining: { coinbase: MINER, threads: 2, duty: 0.2 },
  })
  expect(await rpc(http, 'eth_mining')).toBe(false)
  expect(await rpc(http, 'eth_hashrate')).toBe('0x0')
  expect(await rpc(operator as string, 'eth_mining')).toBe(true)
  await expect.poll(() => rpc<string>(http, 'native_proofBlockNumber').then(Number)).toBeGreaterThan(1)
  await expect
    .poll(() => rpc<{ miner: string }>(http, 'eth_getBlockByNumber', ['latest', false]))
    .toMatchObject({ miner: MINER })
})

test('Stratum is off unless asked for; its workers count in the hash rate of the operator port', async () => {
  expect((await start({ genesis: testGenesis() })).stratum).toBeUndefined()
  const { http, operator, stratum } = await start({ genesis: testGenesis(), stratum: { host: '127.0.0.1', port: 0 } })
  const client = new StratumClient(Number(new URL(stratum as string).port))
  await client.ask('eth_submitLogin', [MINER])
  const work = (await client.next(({ id }) => id === 0)).result as readonly [Hex, Hex, Hex]
  expect(await rpc(operator as string, 'eth_mining')).toBe(false)
  const search = { version: 1, sealHash: work[0], target: BigInt(work[2]), prefix: Uint8Array.of(5), from: 0 }
  const { found } = await searchNonces({ ...search, budgetMs: Number.POSITIVE_INFINITY })
  const submit = [bytesToHex(found?.nonce as Uint8Array), work[0], ZERO_HASH]
  expect((await client.ask('eth_submitWork', submit)).result).toBe(true)
  expect(await rpc(operator as string, 'eth_mining')).toBe(true)
  expect([await rpc(http, 'eth_mining'), await rpc(http, 'eth_hashrate')]).toEqual([false, '0x0'])
  await expect
    .poll(() => rpc<{ miner: string }>(http, 'native_getProofHeader', ['0x1']))
    .toMatchObject({ miner: MINER })
})
