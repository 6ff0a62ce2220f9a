import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { NAMESPACES, NETWORKS } from '../../src/config/networks.ts'
import { METHODS } from '../../src/rpc/methods/methods.ts'
import { type RunningNode, startNode } from '../support/devnet.ts'
import { type Json, type RecordedCase, recordedCases } from '../support/recorded/cases.ts'
import { CHAIN_PATH, GENESIS_PATH, HEAD_HASH } from '../support/recorded/chain.ts'
import { differences, type Tolerance } from '../support/recorded/compare.ts'
import { misshapen } from '../support/recorded/shape.ts'
import { exceptionOf, isCompared } from './recorded-exceptions.ts'

/*
 * The answers of the Ethereum clients on their own recorded chain of 54 blocks, asked of the real process: `tandem fixture` executes
 * the chain, twice over in shadow mode, and serves it by the router and the encoders of every other node.
 */

/** docs/interface.md#block has members that the clients have not; docs/interface.md#transaction, docs/interface.md#receipt do not have the block's time in transactions and logs. */
const TOLERANCE: Tolerance = { extra: ['proposer', 'totalDifficulty'], missing: ['blockTimestamp'] }

interface Request {
  readonly id: Json
  readonly method: string
  readonly params?: readonly Json[]
}

const refusal = (id: Json, code: number): Json => ({ jsonrpc: '2.0', id, error: { code, message: '' } })

/** Expected answer: the recorded one, except for closed namespaces, refused tags and listed exceptions. */
const wantedOf = (
  name: string,
  { id, method, params = [] }: Request,
  recorded: Json,
  served: readonly string[],
): Json => {
  if (!served.includes(method.slice(0, method.indexOf('_')))) return refusal(id, -32601)
  const exception = exceptionOf(name, method)
  if (exception) return refusal(id, exception.code)
  return params.includes('safe') || params.includes('finalized') ? refusal(id, -32602) : recorded
}

const post = async (url: string, body: string): Promise<Json> => {
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  return (await response.json()) as Json
}

const check = async (url: string, recorded: RecordedCase, served: readonly string[]) => {
  for (const { request, answer } of recorded.exchanges) {
    const asked = JSON.parse(request) as Request
    const wanted = wantedOf(recorded.name, asked, answer, served)
    const got = await post(url, request)
    if (recorded.isExample && wanted === answer) expect(misshapen(METHODS[asked.method]?.result, got)).toEqual([])
    else
      expect(differences(got, wanted, TOLERANCE).filter(difference => isCompared(asked.method, difference))).toEqual([])
  }
}

const cases = recordedCases()

test('the recorded cases are all there', () => {
  expect(cases).toHaveLength(119)
})

// Some send transactions, which succeed once: a node for each set of namespaces.
describe.each([
  ['of mainnet', NETWORKS.mainnet.namespaces.http],
  ['of testnet', NETWORKS.testnet.namespaces.http],
  ['all', NAMESPACES],
])('with the namespaces %s', (_, served) => {
  let node: RunningNode
  beforeAll(async () => {
    const files = ['--genesis', GENESIS_PATH, '--chain', CHAIN_PATH]
    node = await startNode(['fixture', ...files, '--port', '0', '--http-api', served.join(',')])
  }, 120_000)
  // Not killed: it takes its temporary folder with it.
  afterAll(() => node?.stop(), 60_000)

  test('the head is the recorded one', async () => {
    expect(await node.rpc('eth_getBlockByNumber', ['latest', false])).toMatchObject({ number: '0x36', hash: HEAD_HASH })
  })

  test.each(cases.map(recorded => [recorded.name, recorded] as const))('%s', (_, recorded) =>
    check(node.http, recorded, served),
  )
})
