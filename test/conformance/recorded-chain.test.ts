import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { NAMESPACES, NETWORKS } from '../../src/config/networks.ts'
import { METHODS } from '../../src/rpc/methods/methods.ts'
import { type RunningNode, startNode } from '../support/devnet.ts'
import { CHAIN_PATH, GENESIS_PATH, HEAD_HASH } from '../support/recorded/chain.ts'
import { type Json, type RecordedCase, recordedCases } from './recorded-cases.ts'
import { exceptionOf, isCompared } from './recorded-exceptions.ts'

/*
 * The answers of the Ethereum clients on their own recorded chain of 54 blocks, asked of the real process: `tandem fixture` executes
 * the chain, twice over in shadow mode, and serves it by the router and the encoders of every other node.
 */

/** Members of docs/interface.md#block that the clients have not. */
const OWN_MEMBERS: readonly string[] = ['proposer', 'totalDifficulty']

const isObject = (value: Json | undefined): value is { readonly [member: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value)

/** Differences of an answer from the recorded one, as lines of text. Codes and data of errors are compared, their texts are not: each client has its own. */
const differences = (got: Json | undefined, want: Json | undefined, at = 'answer'): string[] => {
  if (isList(got) && isList(want)) {
    const length = got.length === want.length ? [] : [`${at}: ${got.length} items, want ${want.length}`]
    return [...length, ...want.flatMap((item, i) => (i < got.length ? differences(got[i], item, `${at}[${i}]`) : []))]
  }
  if (!isObject(got) || !isObject(want)) return got === want ? [] : [`${at}: ${show(got)}, want ${show(want)}`]
  const names = new Set([...Object.keys(got), ...Object.keys(want)])
  return [...names].flatMap(name => {
    if (!(name in want)) return OWN_MEMBERS.includes(name) ? [] : [`${at}.${name}: ${show(got[name])} is too much`]
    if (!(name in got)) return [`${at}.${name}: missing, want ${show(want[name])}`]
    if (name === 'error' && isObject(got[name]) && isObject(want[name]))
      return differences(textless(got[name]), textless(want[name]), `${at}.error`)
    return differences(got[name], want[name], `${at}.${name}`)
  })
}

const textless = ({ message, ...rest }: { readonly [member: string]: Json }): Json =>
  // An error without a text is no error object.
  typeof message === 'string' ? rest : { ...rest, message: message ?? null }

const show = (value: Json | undefined): string => {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 100 ? `${text.slice(0, 97)}...` : text
}

/** In what an answer is not a result of the method's own schema. */
const misshapen = (schema: object | undefined, answer: Json): readonly string[] => {
  if (schema === undefined) return ['no such method']
  const { result } = answer as { readonly result?: Json }
  if (result === undefined) return [`no result: ${JSON.stringify(answer).slice(0, 200)}`]
  const validate = new Ajv2020({ strict: false, allErrors: true }).compile(schema)
  return validate(result)
    ? []
    : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}

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
    else expect(differences(got, wanted).filter(difference => isCompared(asked.method, difference))).toEqual([])
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
