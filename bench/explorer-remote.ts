import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger } from '@tandem/base/logger.ts'
import { readNetwork } from '@tandem/explorer/chain/network.ts'
import { NodeClient } from '@tandem/explorer/chain/node-client.ts'
import { nodeCall } from '@tandem/explorer/chain/node-port.ts'
import { RpcChain } from '@tandem/explorer/chain/rpc-chain.ts'
import { Indexer, type IndexerState } from '@tandem/explorer/indexer/indexer.ts'
import { type IndexDatabase, openIndex } from '@tandem/explorer/store/open-index.ts'
import { type RunningNode, startDevnet } from '../test/support/devnet.ts'
import { startPostgres } from '../test/support/explorer/postgres-server.ts'
import { signerOf } from '../test/support/load.ts'
import { measureThreads } from './explorer-attacks/threads.ts'

/*
 * Rate at which `tandem explorer` takes in the chain of a node over its WebSocket: `node bench/explorer-remote.ts [sqlite|postgres]
 * [transactions]`. A devnet makes blocks of 500 plain transfers; then an index is filled from it, as the thread of the explorer does it.
 */

const [backEnd = 'sqlite', count = '20000'] = process.argv.slice(2)
const PER_BLOCK = 500
const BATCH = 250

const sendBatch = async (url: string, raws: readonly string[]): Promise<void> => {
  const calls = raws.map((raw, id) => ({ jsonrpc: '2.0', id, method: 'eth_sendRawTransaction', params: [raw] }))
  const headers = { 'content-type': 'application/json' }
  await (await fetch(url, { method: 'POST', headers, body: JSON.stringify(calls) })).arrayBuffer()
}

const fillChain = async (node: RunningNode, transactions: number): Promise<void> => {
  await node.rpc('evm_setAutomine', [false])
  const signers = node.accounts.map(({ privateKey }) => signerOf(privateKey, node.chainId))
  const raws = Array.from({ length: transactions }, (_, at) => {
    const signer = signers[at % signers.length] as ReturnType<typeof signerOf>
    return signer({ nonce: Math.floor(at / signers.length), value: 1n }).raw
  })
  for (let at = 0; at < raws.length; at += PER_BLOCK) {
    const own = raws.slice(at, at + PER_BLOCK)
    for (let from = 0; from < own.length; from += BATCH) await sendBatch(node.http, own.slice(from, from + BATCH))
    await node.rpc('hardhat_mine', ['0x1'])
  }
}

const backfill = async (node: RunningNode, database: IndexDatabase): Promise<void> => {
  const client = new NodeClient({ url: node.ws, logger: silentLogger })
  const source = new RpcChain(client, (await readNetwork(client)).rules)
  const index = await openIndex(database)
  const call = nodeCall(client)
  const indexer = new Indexer({ source, call, index, logger: silentLogger, nowMs: () => performance.now() })
  const [began, cpu, threads] = [performance.now(), process.cpuUsage(), measureThreads(node.process.pid as number)]
  let state: IndexerState = 'behind'
  while (state === 'behind') state = await indexer.step()
  const seconds = (performance.now() - began) / 1_000
  const { user, system } = process.cpuUsage(cpu)
  const shares = threads()
  const { transactions, blocks } = await index.counters()
  await index.close()
  await source.close()
  process.stdout.write(
    `backfill by RPC: ${transactions} transactions in ${blocks} blocks in ${seconds.toFixed(1)} s, ${Math.round(transactions / seconds)} a second ` +
      `(${((user + system) / 1e6).toFixed(1)} s of this process's processor; ${shares})\n`,
  )
}

const dir = mkdtempSync(join(tmpdir(), 'tandem-bench-explorer-'))
const server = backEnd === 'postgres' ? await startPostgres() : undefined
const node = await startDevnet(['--block-time', '0', '--no-explorer', '--execution', 'wasm'])
try {
  await fillChain(node, Number(count))
  const sqlite = { kind: 'sqlite', path: join(dir, 'index.sqlite'), ephemeral: false } as const
  await backfill(node, server ? { kind: 'postgres', url: await server.database() } : sqlite)
} finally {
  await node.kill()
  await server?.close()
  rmSync(dir, { recursive: true, force: true })
}
