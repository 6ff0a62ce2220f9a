import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bytesToHex, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { expect, onTestFinished, test } from 'vitest'
import { signedRaw } from '../support/chain.ts'
import { eventually, type RunningNode, startDevnet, withTempDir } from '../support/devnet.ts'
import { startDatabaseGate } from '../support/explorer/database-gate.ts'
import { POSTGRES_MISSING, startPostgres } from '../support/explorer/postgres-server.ts'
import { type NodeProcess, spawnNode } from '../support/node-process.ts'

/* A database that goes away under load. EXPLORER_OUTAGE_SECONDS sets for how long; the tests need only some. */

const OUTAGE_MS = Number(process.env['EXPLORER_OUTAGE_SECONDS'] ?? 3) * 1_000
const KEY = 'key-of-the-test'
const wait = (milliseconds: number): Promise<void> => new Promise(resolve => setTimeout(resolve, milliseconds))

interface Health {
  readonly status: number
  readonly body: { readonly healthy: boolean; readonly waitsFor: string | null; readonly seconds: number }
}

const healthOf = async (base: string): Promise<Health> => {
  const answer = await fetch(new URL('/health', base))
  return { status: answer.status, body: (await answer.json()) as Health['body'] }
}

const explore = async (base: string): Promise<{ status: number; text: string; indexed: number }> => {
  const answer = await fetch(new URL('/api/blocks?limit=1', base), { headers: { 'x-api-key': KEY } })
  return { status: answer.status, text: await answer.text(), indexed: Number(answer.headers.get('x-indexed-block')) }
}

/** Sends a transfer in every block until told to stop; answers the hashes. */
const sendTransfers = (node: RunningNode) => {
  const hashes: Hex[] = []
  const stop = new AbortController()
  const [alice, bob] = node.accounts as readonly [RunningNode['accounts'][number], RunningNode['accounts'][number]]
  const sending = (async () => {
    for (let nonce = 0; !stop.signal.aborted; nonce++) {
      const fields = {
        chainId: node.chainId,
        nonce,
        to: bob.address.toLowerCase() as Hex,
        value: 1n,
        gasLimit: 21_000n,
      }
      const raw = bytesToHex(signedRaw(hexToBytes(alice.privateKey), fields))
      hashes.push(await node.rpc<Hex>('eth_sendRawTransaction', [raw]))
      await wait(20)
    }
  })()
  // Reported by `end`.
  sending.catch(() => undefined)
  return {
    async end(): Promise<readonly Hex[]> {
      stop.abort()
      await sending
      return hashes
    },
  }
}

/** One outage: answers are whole or name the reason, and health tells. */
const outage = async (base: string, begin: () => unknown, end: () => unknown): Promise<void> => {
  const began = Date.now()
  await begin()
  await eventually(
    'health tells of the database',
    () => healthOf(base),
    ({ status, body }) => status === 503 && body.waitsFor === 'database',
  )
  let refusals = 0
  do {
    const { status, text } = await explore(base)
    expect([200, 503]).toContain(status)
    if (status === 503) {
      refusals++
      expect(text).toContain('DATABASE_UNREACHABLE')
    }
    await wait(250)
  } while (Date.now() - began < OUTAGE_MS || refusals === 0)
  await end()
  await eventually(
    'the explorer is healthy again',
    () => healthOf(base),
    ({ status }) => status === 200,
  )
}

const linesOf = (explorer: NodeProcess, text: string): readonly Record<string, unknown>[] =>
  explorer
    .stderr()
    .split('\n')
    .filter(line => line.includes(text))
    .map(line => JSON.parse(line) as Record<string, unknown>)

test.skipIf(POSTGRES_MISSING)(
  `a database that stops, and one that hangs, is waited for under load: nothing is lost or counted twice${POSTGRES_MISSING ? ` (${POSTGRES_MISSING})` : ''}`,
  () =>
    withTempDir(async dir => {
      const keys = join(dir, 'keys')
      writeFileSync(keys, `${KEY}\n`)
      const server = await startPostgres()
      onTestFinished(() => server.close())
      const gate = await startDatabaseGate(server.port)
      onTestFinished(() => gate.close())
      const database = gate.urlOf(await server.database())
      const node = await startDevnet(['--port', '0', '--datadir', `${dir}/chain`, '--block-time', '0'])
      onTestFinished(() => node.kill())
      const explorer = spawnNode([
        'explorer',
        ...['--node', node.ws, '--datadir', `${dir}/explorer`, '--port', '0', '--database', database],
        ...['--explorer-keys', keys],
      ])
      onTestFinished(() => explorer.kill())
      const base = (await explorer.ready).explorer as string
      const load = sendTransfers(node)
      await eventually(
        'the first blocks in the index',
        () => wait(200).then(() => explore(base)),
        ({ indexed }) => indexed > 2,
      )
      await outage(
        base,
        () => server.kill(),
        () => server.start(),
      )
      await outage(
        base,
        () => gate.hang(),
        () => gate.open(),
      )
      const hashes = await load.end()
      const head = Number(await node.rpc<Hex>('eth_blockNumber'))
      await eventually(
        'the head in the index',
        () => wait(200).then(() => explore(base)),
        ({ indexed }) => indexed === head,
      )
      const stats = (await (await fetch(new URL('/api/stats', base))).json()) as { totals: { transactions: number } }
      expect(stats.totals.transactions).toBe(hashes.length)
      const [sender] = node.accounts
      const account = await (await fetch(new URL(`/api/addresses/${sender?.address}`, base))).json()
      expect(account).toMatchObject({ transactionCount: hashes.length })
      const waits = linesOf(explorer, 'indexing waits')
      const ends = linesOf(explorer, 'indexing goes on')
      expect(waits).toHaveLength(2)
      expect(ends).toHaveLength(2)
      for (const line of ends) expect(line).toMatchObject({ waitedFor: 'database', seconds: expect.any(Number) })
      expect(explorer.child.exitCode).toBeNull()
      expect(await explorer.end('SIGTERM')).toMatchObject({ code: 0 })
      await node.stop()
    }),
  OUTAGE_MS * 4 + 120_000,
)
