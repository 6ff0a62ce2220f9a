import { bytesToHex, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import type { ApiContext } from '@tandem/explorer/api/api-route.ts'
import { createApiServer } from '@tandem/explorer/api/api-server.ts'
import { PriceService } from '@tandem/explorer/price/price-service.ts'
import { openContractFile } from '@tandem/explorer/store/open-contracts.ts'
import { SqlIndex } from '@tandem/explorer/store/sql/sql-index.ts'
import { SqliteDatabase } from '@tandem/explorer/store/sqlite/sqlite-database.ts'
import { createVerification } from '@tandem/explorer/verification/verification.ts'
import type { FastifyInstance } from 'fastify'
import { ACCOUNTS, type TestChain, withChain } from '../../support/chain.ts'
import { localCall } from '../../support/explorer/source/local-calls.ts'
import { indexerOf, senderOn, transferData } from '../../support/explorer/token-chain.ts'

export interface ApiRig {
  readonly app: FastifyInstance
  readonly chain: TestChain
  readonly context: ApiContext
  readonly coin: Hex
  /** Hashes in order: a creation, a token transfer, a plain transfer, a failed creation. */
  readonly hashes: readonly Hex[]
  get(path: string): Promise<{ status: number; body: unknown; headers: Readonly<Record<string, unknown>> }>
  mine(): Promise<void>
}

/** The REST API over a chain with a token and a few transactions, indexed. */
export const withApi = (use: (rig: ApiRig) => Promise<void>): Promise<void> =>
  withChain(async chain => {
    const alice = senderOn(chain)
    const coin = await alice.deploy('Coin')
    const [, BOB] = ACCOUNTS as readonly [Hex, Hex]
    await alice.submit({ to: coin, data: transferData(BOB, 250n) })
    await alice.submit({ to: BOB, value: 7n })
    await alice.submit({ to: null, data: Uint8Array.of(0xfe) })
    await chain.mine()
    const index = new SqlIndex(new SqliteDatabase({ path: ':memory:' }))
    const { source, catchUp } = indexerOf(chain, index)
    await catchUp()
    await index.writeLabels([{ address: BOB, name: 'Bob Exchange' }])
    const { params, council } = chain.genesis
    const call = localCall(source)
    const ethCall = async ({ to, data }: { readonly to: Hex; readonly data: Hex }) => {
      const output = await call(to, hexToBytes(data))
      return output && bytesToHex(output)
    }
    const nowMs = (): number => 1_735_689_600_000
    const contracts = openContractFile(':memory:')
    const node: ApiContext['node'] = {
      gasPriceWei: async () => 27_500_000_000n,
      council: async () => council.map(member => ({ ...member, isActive: true, startBlock: 0 })),
      committee: async (number = chain.chain.headBlock.header.number + 1) =>
        chain.sources.council.committee(number)?.members,
      rpc: async request => {
        const { method, params } = JSON.parse(request)
        const result = method === 'eth_call' ? await ethCall(params[0]) : method
        return JSON.stringify({ jsonrpc: '2.0', id: 1, result })
      },
    }
    const context: ApiContext = {
      index,
      source,
      verification: createVerification({ index, source, contracts, node, nowMs, logger: silentLogger }),
      node,
      price: new PriceService({ config: undefined, symbol: params.symbol, node, nowMs }),
      rules: source.rules,
      nowMs,
    }
    const app = createApiServer({ context, version: '1', logger: silentLogger })
    const { transactions } = chain.chain.headBlock
    const first = (await chain.blocks.block(1))?.transactions ?? []
    try {
      await use({
        app,
        chain,
        context,
        coin,
        hashes: [...first, ...transactions].map(({ hash }) => hash),
        get: async path => {
          const response = await app.inject({ url: path })
          return { status: response.statusCode, body: response.json(), headers: response.headers }
        },
        async mine() {
          await chain.mine()
          await catchUp()
        },
      })
    } finally {
      await app.close()
      await contracts.close()
      await index.close()
    }
  })
