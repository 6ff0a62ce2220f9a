import { EMPTY_BYTES, type Hex } from '@tandem/base/bytes.ts'
import { expect, test } from 'vitest'
import type { SimulatedChainBlock } from '../../../src/chain/simulation-service.ts'
import { ethSimulate } from '../../../src/rpc/methods/eth/simulate.ts'
import type { Context } from '../../../src/rpc/router/context.ts'
import { RawJson } from '../../../src/rpc/router/raw-json.ts'
import { MemoryChain } from '../../support/rpc/memory-chain.ts'
import { EchoSimulations } from '../../support/rpc/services.ts'
import { countTurns } from '../../support/turns.ts'

const ADDRESS: Hex = `0x${'ab'.repeat(20)}`
const LOGS = 60_000

test('one call with many logs is encoded in many turns of the event loop', async () => {
  const chain = new MemoryChain()
  const echo = new EchoSimulations(() => chain.head())
  const log = { address: ADDRESS, topics: [], data: EMPTY_BYTES }
  const simulations = {
    async run(request: Parameters<EchoSimulations['run']>[0]): Promise<readonly SimulatedChainBlock[]> {
      const blocks = await echo.run(request)
      return blocks.map(block => ({
        ...block,
        calls: block.calls.map(call => ({ ...call, logs: Array.from({ length: LOGS }, () => log) })),
      }))
    },
  }
  const { handler, params } = ethSimulate.eth_simulateV1
  const args = params[0]?.parse({ blockStateCalls: [{ calls: [{ to: ADDRESS }] }] })
  const run = handler as (context: Context, args: unknown) => Promise<unknown>
  const context = { simulations, view: chain, client: 'client' } as unknown as Context
  const { result, turns } = await countTurns(() => run(context, args))
  expect(turns).toBeGreaterThan(4)
  if (!(result instanceof RawJson)) return expect.unreachable('a simulation is a text')
  const [{ calls }] = JSON.parse(result.text)
  expect(calls[0].logs.map(({ logIndex }: { logIndex: string }) => Number(logIndex))).toEqual(
    Array.from({ length: LOGS }, (_, index) => index),
  )
})
