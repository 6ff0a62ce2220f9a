import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { systemClock } from '@tandem/base/clock.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { startExplorerProcess } from '@tandem/explorer/service/explorer-process.ts'
import { expect, onTestFinished, test } from 'vitest'
import { eventually, rpc, withTempDir } from '../support/devnet.ts'
import { tokenContracts, transferData } from '../support/explorer/token-chain.ts'
import { freePort, ROOT } from '../support/node-process.ts'

const ANVIL = join(ROOT, 'node_modules/@foundry-rs/anvil-linux-amd64/bin/anvil')
const MISSING = existsSync(ANVIL) ? '' : ' (anvil is not installed for this system)'

/** Sends transactions between two accounts of anvil; returns the contract and the hashes of a transfer of tokens and of a failure. */
const fill = async (url: string) => {
  const [alice, bob] = await rpc<readonly [Hex, Hex]>(url, 'eth_accounts')
  const send = async (fields: object): Promise<{ readonly transactionHash: Hex; readonly contractAddress: Hex }> => {
    const hash = await rpc<Hex>(url, 'eth_sendTransaction', [{ from: alice, gas: '0x2dc6c0', ...fields }])
    return eventually('a receipt', () => rpc(url, 'eth_getTransactionReceipt', [hash]), Boolean) as never
  }
  const { contractAddress: coin } = await send({ data: bytesToHex(tokenContracts()['Coin']?.bytecode as Uint8Array) })
  const moved = await send({ to: coin, data: bytesToHex(transferData(bob, 250n)) })
  await send({ to: bob, value: '0x7' })
  const failed = await send({ data: '0xfe' })
  return { alice, bob, coin, moved: moved.transactionHash, failed: failed.transactionHash }
}

const anvilAt = async (port: number): Promise<ChildProcess> => {
  const child = spawn(ANVIL, ['--port', String(port), '--silent'], { stdio: 'ignore' })
  const url = `http://127.0.0.1:${port}`
  await eventually('anvil', () => rpc(url, 'eth_chainId').catch(() => undefined), Boolean)
  return child
}

test.skipIf(MISSING)(
  `a node without native methods has blocks, transactions, tokens and pages, and no unions, mining, supply and internal transfers${MISSING}`,
  () =>
    withTempDir(async dataDir => {
      const anvilPort = await freePort()
      const anvil = await anvilAt(anvilPort)
      onTestFinished(() => void anvil.kill('SIGKILL'))
      const { alice, bob, coin, moved, failed } = await fill(`http://127.0.0.1:${anvilPort}`)
      const explorer = await startExplorerProcess({
        ...{ nodeUrl: `ws://127.0.0.1:${anvilPort}`, rpcUrl: undefined, dataDir, host: '127.0.0.1', port: 0 },
        database: { kind: 'sqlite', path: join(dataDir, 'index.sqlite'), ephemeral: false },
        ...{ keysFile: undefined, labelsFile: undefined, priceFile: undefined, solcDirectory: undefined },
        clientOf: () => '127.0.0.1',
        version: '1',
        signal: new AbortController().signal,
        clock: systemClock,
        logger: silentLogger,
      })
      onTestFinished(() => explorer.close())
      const get = async (path: string) => {
        const response = await fetch(`http://127.0.0.1:${explorer.port}${path}`)
        const text = await response.text()
        return { status: response.status, text, body: (text.startsWith('{') ? JSON.parse(text) : {}) as never }
      }
      await eventually(
        'the token with its name',
        () => get(`/api/tokens/${coin}`),
        ({ text }) => text.includes('BEAN'),
      )
      expect((await get('/api/blocks/4')).body).toMatchObject({
        number: 4,
        finalized: false,
        committee: null,
        rewards: [{ role: 'miner' }],
      })
      expect((await get('/api/transactions')).body).toMatchObject({ total: 4 })
      expect((await get(`/api/transactions/${moved}`)).body).toMatchObject({
        ...{
          txType: 'token',
          status: 1,
          internalTransfers: null,
          decodedInput: { signature: 'transfer(address,uint256)' },
        },
        tokenTransfers: [{ from: expect.stringMatching(new RegExp(alice, 'i')), amount: '250' }],
      })
      expect((await get(`/api/transactions/${failed}`)).body).toMatchObject({ status: 0, revertReason: null })
      expect((await get(`/api/addresses/${bob}`)).body).toMatchObject({ transactionCount: 1, roles: [] })
      expect((await get('/api/top-accounts')).body).toMatchObject({
        items: expect.arrayContaining([expect.objectContaining({ percentOfSupply: null })]),
      })
      for (const path of [
        '/api/network',
        '/api/stats',
        '/api/search?q=bean',
        `/api?module=account&action=txlist&address=${alice}`,
      ])
        expect((await get(path)).status, path).toBe(200)
      for (const path of [
        '',
        '/blocks',
        '/block/4',
        '/txs',
        `/tx/${moved}`,
        `/address/${bob}`,
        `/token/${coin}`,
        '/accounts',
        '/stats',
        '/gas',
        '/network',
      ])
        expect((await get(`/explorer${path}`)).status, path).toBe(200)
      for (const path of [
        '/api/supply',
        '/api/mining',
        '/api/unions',
        '/api/rewards',
        '/api/internal-transfers',
        '/explorer/supply',
        '/explorer/mining',
        '/explorer/validators',
      ])
        expect((await get(path)).status, path).toBe(404)
      const home = (await get('/explorer')).text
      expect(['/explorer/gas', '/explorer/mining'].map(path => home.includes(`href="${path}"`))).toEqual([true, false])
      // A block that anvil takes back is taken back in the index too.
      await rpc(`http://127.0.0.1:${anvilPort}`, 'anvil_rollback', [1])
      await eventually(
        'a shorter index',
        () => get('/api/transactions'),
        ({ text }) => text.includes('"total":3'),
      )
    }),
)
