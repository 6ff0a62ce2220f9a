import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { bytesToHex, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { BLOCK_TABLES } from '@tandem/explorer/store/sql/schema.ts'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createAddress } from '../../src/primitives/receipt/address.ts'
import type { UnsignedTransaction } from '../../src/primitives/transaction/transaction-encoding.ts'
import { signedRaw } from '../support/chain.ts'
import { eventually, type RunningNode, startDevnet, withTempDir } from '../support/devnet.ts'
import { POSTGRES_MISSING, startPostgres } from '../support/explorer/postgres-server.ts'
import { tokenContracts } from '../support/explorer/token-chain.ts'
import { freePort, type NodeProcess, spawnNode } from '../support/node-process.ts'
import { fillTokenChain } from './page-chain.ts'

const KEY = 'key-of-the-test'
const headers = { 'x-api-key': KEY }

/** Bodies of both must be equal. */
const paths = (holder: string, { coin, tokenTransfer, failed }: Awaited<ReturnType<typeof fillTokenChain>>) => [
  '/api/blocks?limit=3',
  '/api/blocks/1',
  '/api/blocks/0',
  '/api/transactions',
  '/api/transactions?txType=token',
  `/api/transactions/${tokenTransfer}`,
  `/api/transactions/${failed}`,
  `/api/addresses/${holder}`,
  `/api/addresses/${holder}/transactions`,
  `/api/addresses/${holder}/transfers`,
  '/api/tokens',
  `/api/tokens/${coin}`,
  `/api/tokens/${coin}/transfers`,
  '/api/top-accounts',
  '/api/internal-transfers',
  `/api/addresses/${holder}/internal`,
  '/api/stats',
  '/api/supply',
  '/api/network',
  '/api/mining',
  '/api/search?q=bean',
  `/api?module=logs&action=getlogs&address=${coin}`,
  `/api?module=account&action=tokentx&contractaddress=${coin}`,
  '/api?module=stats&action=ethsupply',
  '/api?module=proxy&action=eth_blockNumber',
]

const get = async (base: string, path: string): Promise<{ status: number; text: string; indexed: number }> => {
  const answer = await fetch(new URL(path, base), { headers })
  return { status: answer.status, text: await answer.text(), indexed: Number(answer.headers.get('x-indexed-block')) }
}

/** Code that creates a contract, passes wei on, fails with wei, and destroys itself. */
const moveInternally = async (node: RunningNode): Promise<void> => {
  const [alice, bob] = node.accounts as readonly [RunningNode['accounts'][number], RunningNode['accounts'][number]]
  const from = alice.address.toLowerCase() as Hex
  let nonce = Number(await node.rpc<Hex>('eth_getTransactionCount', [from, 'latest']))
  const submit = (fields: Partial<UnsignedTransaction>): Promise<unknown> => {
    const all = { chainId: node.chainId, gasLimit: 3_000_000n, nonce: nonce++, ...fields }
    return node.rpc('eth_sendRawTransaction', [bytesToHex(signedRaw(hexToBytes(alice.privateKey), all))])
  }
  const deploy = async (name: string): Promise<Hex> => {
    const address = createAddress(from, nonce)
    await submit({ to: null, data: tokenContracts()[name]?.bytecode as Uint8Array })
    return address
  }
  const [factory, purse] = [await deploy('Factory'), await deploy('Purse')]
  await submit({ to: factory, data: hexToBytes('0xc6dad082') })
  for (const selector of ['82c4b3b2', 'e8199063', 'c74073a1'])
    await submit({ to: purse, value: 5n, data: hexToBytes(`0x${selector}${bob.address.slice(2).padStart(64, '0')}`) })
  await node.rpc('hardhat_mine', ['0x1'])
}

/** Rows of every table of an index that blocks alone decide. */
const rowsOf = (path: string): ReadonlyMap<string, readonly unknown[]> => {
  const database = new DatabaseSync(path, { readOnly: true })
  const tables = BLOCK_TABLES.map(table => [table, database.prepare(`SELECT * FROM ${table}`)] as const)
  const rows = new Map(tables.map(([table, statement]) => [table, statement.all()]))
  database.close()
  return rows
}

/** Makes blocks until one of them made a proof header final. */
const includeProof = (node: Pick<RunningNode, 'rpc'>): Promise<unknown> =>
  eventually(
    'a proof header in a block',
    async () => {
      await node.rpc('hardhat_mine', ['0x1'])
      return node.rpc<readonly { readonly includedIn: string | null }[]>('native_getProofHeaderRange', ['0x1', '0x1'])
    },
    ([first]) => typeof first?.includedIn === 'string',
  )

const indexed = (base: string, number: number): Promise<unknown> =>
  eventually(
    `block ${number} in the index`,
    () => get(base, '/api/blocks?limit=1').catch(() => ({ indexed: -1 })),
    answer => answer.indexed >= number,
  )

const explorerOf = async (explorer: NodeProcess): Promise<string> => (await explorer.ready).explorer as string

const BACK_ENDS = ['SQLite', 'PostgreSQL'] as const

describe.each(BACK_ENDS)('%s', name => {
  const reason = name === 'PostgreSQL' ? POSTGRES_MISSING : undefined
  test.skipIf(reason)(
    `an explorer of its own answers as that of the node, and goes on when it was killed and when node or database were away${reason ? ` (${reason})` : ''}`,
    () =>
      withTempDir(async dir => {
        const server = name === 'PostgreSQL' ? await startPostgres() : undefined
        onTestFinished(() => server?.close())
        const database = server ? ['--database', await server.database()] : []
        const keys = join(dir, 'keys')
        writeFileSync(keys, `${KEY}\n`)
        const port = String(await freePort())
        const chain = [
          '--port',
          port,
          '--datadir',
          join(dir, 'chain'),
          '--block-time',
          '0',
          '--explorer-keys',
          keys,
          '--mine',
          '--mine-duty',
          '0.2',
        ]
        let node = await startDevnet([...chain, '--execution', 'wasm'])
        const filled = await fillTokenChain(node)
        await moveInternally(node)
        await includeProof(node)
        const head = Number(await node.rpc('eth_blockNumber'))
        const args = ['explorer', '--node', node.ws, '--datadir', join(dir, 'explorer'), '--port', '0', ...database]
        let explorer = spawnNode([...args, '--explorer-keys', keys])
        try {
          let base = await explorerOf(explorer)
          await indexed(base, head)
          const holder = (node.accounts[1] as { address: string }).address
          await indexed(node.explorer as string, head)
          // Names of tokens are read after their block.
          for (const url of [base, node.explorer as string])
            await eventually(
              'the names of tokens',
              () => get(url, `/api/tokens/${filled.coin}`),
              ({ text }) => text.includes('BEAN') && text.includes('"totalSupply":"10'),
            )
          for (const path of paths(holder, filled)) {
            const [own, nodes] = await Promise.all([get(base, path), get(node.explorer as string, path)])
            expect(own.status, path).toBe(200)
            expect(own.text, path).toBe(nodes.text)
          }
          if (!server) {
            const [own, nodes] = ['explorer/index.sqlite', 'chain/explorer/index.sqlite'].map(at =>
              rowsOf(join(dir, at)),
            )
            expect(own).toEqual(nodes)
            expect(own?.get('internal')?.length).toBe(3)
          }
          const { foundation } = await node.rpc<{ foundation: Hex }>('native_getParams')
          const paid = await get(base, `/api/addresses/${foundation}`)
          expect(paid.text).toBe((await get(node.explorer as string, `/api/addresses/${foundation}`)).text)
          const { roles } = JSON.parse(paid.text) as { roles: readonly string[] }
          expect(roles).toContain('foundation')
          const page = await get(base, '/explorer')
          expect([page.status, page.text.includes('<html')]).toEqual([200, true])
          expect((await get(base, '/assets/nothing')).status).toBe(404)
          expect((await get(base, '/explorer/network')).text).not.toContain('JSON-RPC')

          await explorer.kill()
          explorer = spawnNode([...args, '--explorer-keys', keys, '--rpc-url', 'https://node.example'])
          base = await explorerOf(explorer)
          expect((await get(base, '/explorer/network')).text).toContain('https://node.example')
          expect((await get(base, '/api/blocks?limit=1')).indexed).toBe(head)

          expect(await node.stop()).toMatchObject({ code: 0 })
          await eventually(
            'the state of an address cannot be told without the node',
            () => get(base, `/api/addresses/${holder}`),
            ({ status, text }) => status === 503 && text.includes('NODE_UNREACHABLE'),
          )
          expect((await get(base, '/api/blocks?limit=1')).status).toBe(200)
          node = await startDevnet([...chain, '--execution', 'wasm'])
          await node.rpc('hardhat_mine', ['0x2'])
          await indexed(base, head + 2)
          if (server) {
            await server.kill()
            await eventually(
              'an index that is away is told',
              () => get(base, '/api/blocks?limit=1'),
              ({ status, text }) => status === 503 && text.includes('DATABASE_UNREACHABLE'),
            )
            await node.rpc('hardhat_mine', ['0x1'])
            await server.start()
            await indexed(base, head + 3)
          }
          expect(await explorer.end('SIGTERM')).toMatchObject({ code: 0 })
        } finally {
          await explorer.kill()
          await node.kill()
        }
      }),
  )
})
