import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import WebSocket from 'ws'
import { RPC_LIMITS } from '../../src/config/limits/clients.ts'
import { alarmsIn } from '../support/alarms.ts'
import { type NodeProcess, type Ready, spawnNode } from '../support/node-process.ts'
import { exchange, request } from '../support/raw-http.ts'

let node: NodeProcess
let ready: Ready
let port: number

beforeAll(async () => {
  node = spawnNode(['devnet', '--port', '0', '--block-time', '0.5'])
  ready = await node.ready
  port = Number(new URL(ready.http).port)
})
afterAll(async () => {
  expect(alarmsIn(node.stderr()), 'nobody has to be called for what clients send').toEqual([])
  expect(await node.end('SIGTERM')).toMatchObject({ code: 0 })
})

type Send = (body: string) => Promise<string>

const post =
  (headers: Record<string, string>): Send =>
  async body => {
    const response = await fetch(ready.http, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    })
    expect(response.status, body.slice(0, 100)).toBe(200)
    return response.text()
  }

/** One connection a message: what comes first is its answer. */
const overSocket: Send = body =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(ready.ws)
    socket.once('error', reject)
    socket.once('open', () => socket.send(body))
    socket.once('message', data => {
      resolve(String(data))
      socket.terminate()
    })
    socket.once('close', code => reject(new Error(`closed with ${code}`)))
  })

/** HTTP, HTTP from a page, and WebSocket must answer alike. */
const ways: readonly (readonly [string, Send])[] = [
  ['plain HTTP', post({})],
  ['HTTP from a page', post({ origin: 'http://localhost:1' })],
  ['WebSocket', overSocket],
]

const failure = (code: number, message: string, id: unknown = null) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
})
const INVALID = failure(-32600, 'invalid request')
const PARSE = failure(-32700, 'parse error')
const noMethod = (name: string, id: unknown = 1) =>
  failure(-32601, `the method ${name} does not exist/is not available`, id)
const chainId = (id: unknown) => ({ jsonrpc: '2.0', id, result: '0x1e8097' })
const call = (method: unknown, params: unknown = [], id: unknown = 1): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params })
const ask = (id: string): string => `{"jsonrpc":"2.0","id":${id},"method":"eth_chainId","params":[]}`
const deep = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`

const ENVELOPES: readonly (readonly [what: string, body: string, answer: unknown])[] = [
  ['no JSON', 'hello', PARSE],
  ['half a request', '{"jsonrpc":"2.0","id":1,"method":"eth_ch', PARSE],
  ['two requests without a comma', `${ask('1')}${ask('2')}`, PARSE],
  ['a byte order mark', `\ufeff${ask('1')}`, PARSE],
  ['single quotes', "{'id':1}", PARSE],
  ['a trailing comma', '{"id":1,"method":"eth_chainId",}', PARSE],
  ['NaN', '{"id":NaN,"method":"eth_chainId"}', PARSE],
  ['a control character in a string', '{"id":1,"method":"eth_\u0000chainId"}', PARSE],
  ['null', 'null', INVALID],
  ['a number', '1', INVALID],
  ['a string', '"eth_chainId"', INVALID],
  ['true', 'true', INVALID],
  ['an empty object', '{}', INVALID],
  ['no method', '{"jsonrpc":"2.0","id":7}', failure(-32600, 'invalid request', 7)],
  ['a method that is a number', call(5), failure(-32600, 'invalid request', 1)],
  ['a method that is null', call(null), failure(-32600, 'invalid request', 1)],
  ['a method that is a list', call(['eth_chainId']), failure(-32600, 'invalid request', 1)],
  ['an id that is a list', call('eth_chainId', [], [1]), INVALID],
  ['an id that is an object', call('eth_chainId', [], { a: 1 }), INVALID],
  ['an empty method', call(''), noMethod('')],
  ['a method of another case', call('ETH_CHAINID'), noMethod('ETH_CHAINID')],
  ['a member of every object', call('__proto__'), noMethod('__proto__')],
  ['another one', call('constructor'), noMethod('constructor')],
  ['a method with markup', call('<b>"\n'), noMethod('<b>"\n')],
  ['a namespace of the operator', call('personal_listAccounts'), noMethod('personal_listAccounts')],
  ['params that are an object', call('eth_getBalance', { address: '0x' }), failure(-32602, 'non-array args', 1)],
  ['params that are a string', call('eth_getBalance', '0x'), failure(-32602, 'non-array args', 1)],
  ['params that are a number', call('eth_getBalance', 0), failure(-32602, 'non-array args', 1)],
  ['params nobody wants', call('eth_chainId', { any: 'thing' }), chainId(1)],
  ['no params', '{"id":1,"method":"eth_chainId"}', chainId(1)],
  ['params null', call('eth_chainId', null), chainId(1)],
  ['another version', '{"jsonrpc":"1.0","id":1,"method":"eth_chainId"}', chainId(1)],
  ['unknown members', '{"id":1,"method":"eth_chainId","extra":{"__proto__":{"id":9}}}', chainId(1)],
  ['a prototype', '{"__proto__":{"method":"eth_chainId","id":1}}', INVALID],
  ['the last of two members', '{"id":1,"id":2,"method":"x","method":"eth_chainId"}', chainId(2)],
  ['an id with escapes', ask('"\\u0000\\"\\ud83d\\ude00"'), chainId('\u0000"😀')],
  ['half a surrogate pair', ask('"\\ud800"'), chainId('\ud800')],
  ['an id of 10,000 characters', ask(`"${'x'.repeat(10_000)}"`), chainId('x'.repeat(10_000))],
  ['an empty id', ask('""'), chainId('')],
  ['a null id', ask('null'), chainId(null)],
  ['an id that is true', ask('true'), chainId(true)],
  ['a negative id', ask('-7'), chainId(-7)],
  ['a fraction as id', ask('1.5'), chainId(1.5)],
  ['nesting below the limit in a small body', call('eth_chainId', [JSON.parse(deep(100))]), chainId(1)],
  [
    'nesting beyond it in a large one',
    `{"id":1,"method":"eth_chainId","params":[${deep(40)},"${'x'.repeat(RPC_LIMITS.unscannedBytes)}"]}`,
    failure(-32600, 'request too complex'),
  ],
  ['nesting that never ends', `${'['.repeat(1_000_000)}`, failure(-32600, 'request too complex')],
  ['a million containers', `[${'[],'.repeat(1_000_000)}[]]`, failure(-32600, 'request too complex')],
  ['an empty batch', '[]', failure(-32600, 'empty batch')],
  ['a batch of nonsense', '[1,null,"x",[],{}]', [INVALID, INVALID, INVALID, INVALID, INVALID]],
  ['a batch in a batch', `[[${ask('1')}],${ask('2')}]`, [INVALID, chainId(2)]],
  ['notifications in a batch', `[{"method":"eth_chainId"},${ask('3')}]`, [chainId(3)]],
  ['the largest batch', batchOf(1_000), Array.from({ length: 1_000 }, (_, id) => chainId(id))],
  ['a larger batch', batchOf(1_001), failure(-32600, 'batch too large, at most 1000 requests')],
]

function batchOf(count: number): string {
  return `[${Array.from({ length: count }, (_, id) => ask(String(id))).join(',')}]`
}

/** Answered to the letter, since JSON.parse would hide a lost digit. */
const EXACT_IDS = ['9007199254740993', '123456789012345678901234567890', '1e400', '0.1000000000000000055']

describe.each(ways)('over %s', (way, send) => {
  test.each(ENVELOPES)('%s', async (_, body, answer) => {
    expect(JSON.parse(await send(body))).toEqual(answer)
  })

  test.each(EXACT_IDS)('the id %s comes back as it was sent', async id => {
    expect(await send(ask(id))).toBe(`{"jsonrpc":"2.0","id":${id},"result":"0x1e8097"}`)
  })

  test.runIf(way !== 'WebSocket')('notifications alone are answered by nothing', async () => {
    expect(await send('{"jsonrpc":"2.0","method":"eth_chainId"}')).toBe('')
    expect(await send('[{"method":"eth_chainId"},{"method":"no_such"}]')).toBe('')
  })
})

const OK = '0x1e8097'

describe('HTTP', () => {
  const body = ask('1')
  const json = { 'content-type': 'application/json' }
  const WRONG_TYPE = 'invalid content type, only application/json is supported\n'

  const REQUESTS: readonly (readonly [what: string, bytes: string, status: number, body: string | RegExp])[] = [
    ['a call', request('POST /', json, body), 200, /0x1e8097/],
    [
      'a type with parameters',
      request('POST /', { 'content-type': 'application/json; charset=utf-8' }, body),
      200,
      /0x1e8097/,
    ],
    ['a type in capitals', request('POST /', { 'content-type': 'Application/JSON' }, body), 200, /0x1e8097/],
    ['application/json-rpc', request('POST /', { 'content-type': 'application/json-rpc' }, body), 200, /0x1e8097/],
    [
      'application/jsonrequest',
      request('POST /', { 'content-type': 'application/jsonrequest' }, body),
      200,
      /0x1e8097/,
    ],
    ['no type', request('POST /', {}, body), 415, WRONG_TYPE],
    [
      'a type that only begins alike',
      request('POST /', { 'content-type': 'application/jsonp' }, body),
      415,
      WRONG_TYPE,
    ],
    ['text', request('POST /', { 'content-type': 'text/plain' }, body), 415, WRONG_TYPE],
    ['a form', request('POST /', { 'content-type': 'application/x-www-form-urlencoded' }, body), 415, WRONG_TYPE],
    ['an upload', request('POST /', { 'content-type': 'multipart/form-data; boundary=x' }, body), 415, WRONG_TYPE],
    ['a type without sense', request('POST /', { 'content-type': ';;;' }, body), 415, WRONG_TYPE],
    ['no body', request('POST /', { ...json, 'content-length': '0' }), 200, /-32700/],
    ['the load balancer', request('GET /'), 200, ''],
    ['GET of the socket path', request('GET /ws'), 426, /WebSocket/],
    ['health', request('GET /health'), 200, /"healthy":true/],
    ['PUT', request('PUT /', json, body), 405, 'method not allowed\n'],
    ['DELETE', request('DELETE /'), 405, 'method not allowed\n'],
    ['PATCH', request('PATCH /', json, body), 405, 'method not allowed\n'],
    ['POST of health', request('POST /health', json, body), 405, 'method not allowed\n'],
    ['OPTIONS', request('OPTIONS /'), 204, ''],
    ['another path', request('POST /rpc', json, body), 404, 'not found\n'],
    ['a path upwards', request('GET /../../etc/passwd'), 404, 'not found\n'],
    ['a path that is no text', request('GET /%00%ff'), 400, /./],
    ['a verb nobody knows', request('BREW /'), 400, /./s],
    ['no HTTP', 'hello\r\n\r\n', 400, /./s],
    ['TLS', Buffer.from('16030100a5010000a10303', 'hex').toString('latin1'), 400, /./s],
    ['a foreign name', request('POST /', { ...json, host: 'evil.example' }, body), 403, 'invalid host specified\n'],
    [
      'a foreign name with a port',
      request('POST /', { ...json, host: 'evil.example:8545' }, body),
      403,
      'invalid host specified\n',
    ],
    [
      'a name that only looks local',
      request('POST /', { ...json, host: 'localhost.evil.example' }, body),
      403,
      'invalid host specified\n',
    ],
    ['localhost', request('POST /', { ...json, host: 'LOCALHOST:1' }, body), 200, /0x1e8097/],
    ['an address', request('POST /', { ...json, host: '192.0.2.1' }, body), 200, /0x1e8097/],
    ['an address of six', request('POST /', { ...json, host: '[::1]:8545' }, body), 200, /0x1e8097/],
    ['no name at all', 'POST / HTTP/1.1\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}', 400, /./s],
    ['too long a head', request('POST /', { ...json, filler: 'x'.repeat(20_000) }, body), 431, /./s],
    ['two lengths', `POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}`, 400, /./s],
    [
      'a length and chunks',
      `POST / HTTP/1.1\r\nhost: 127.0.0.1\r\n${'content-type: application/json'}\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
      /./s,
    ],
    [
      'a chunk without a size',
      `POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n`,
      400,
      /./s,
    ],
    ['a negative length', `POST / HTTP/1.1\r\nhost: a\r\ncontent-length: -1\r\n\r\n`, 400, /./s],
    ['a folded field', `POST / HTTP/1.1\r\nhost: 127.0.0.1\r\nx: a\r\n b\r\n\r\n`, 400, /./s],
  ]

  test.each(REQUESTS)('%s', async (_, bytes, status, expected) => {
    const answer = await exchange(port, bytes)
    expect([answer.status, answer.body]).toEqual([
      status,
      expected instanceof RegExp ? expect.stringMatching(expected) : expected,
    ])
  })

  test('chunks are put together', async () => {
    const half = Math.floor(body.length / 2)
    const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
    const bytes = `POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n${chunk(body.slice(0, half))}${chunk(body.slice(half))}0\r\n\r\n`
    expect((await exchange(port, bytes)).body).toContain(OK)
  })

  test('requests that come in one piece are answered in their order', async () => {
    const plain = (id: number) => request('POST /', { ...json, connection: 'keep-alive' }, ask(String(id)))
    const last = request('POST /', { ...json, origin: 'http://localhost' }, ask('3'))
    const { body: text } = await exchange(port, plain(1) + plain(2) + last)
    expect(text.match(/"id":\d/g)).toEqual(['"id":1', '"id":2', '"id":3'])
  })

  test.each([
    ['declared', 0, 200],
    ['declared', 1, 413],
    ['declared', 20_000_000, 413],
    ['in chunks', 0, 200],
    ['in chunks', 1, 413],
  ] as const)('a body of 5 MiB, %s, and %i byte more: %i', async (way, extra, status) => {
    const text = body.padEnd(RPC_LIMITS.bodyBytes + extra, ' ')
    const bytes =
      way === 'declared'
        ? request('POST /', json, text)
        : `POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`
    const answer = await exchange(port, bytes)
    expect(answer.status).toBe(status)
    if (status === 413) expect(answer.body).toMatch(/^content length too large \(\w+>5242880\)\n$/)
  })

  // How long such bodies delay other clients is measured by bench/hostile-clients.ts (`bodies`).
  test('the largest body, full of input that is hard to parse, is answered', async () => {
    const evil = [
      '{"a":'.repeat(1_000_000),
      `"${'\\u0000'.repeat(870_000)}"`,
      '1'.repeat(5_000_000),
      `[${'"",'.repeat(1_500_000)}""]`,
    ]
    for (const text of evil) expect((await exchange(port, request('POST /', json, text))).status).toBe(200)
  })
})

const A = `0x${'11'.repeat(20)}`
const H = `0x${'22'.repeat(32)}`

/** [method, params, code, text]: one line for each way in which a parameter kind can be wrong. */
const PARAMETERS: readonly (readonly [method: string, params: readonly unknown[], code: number, text: string])[] = [
  // number of arguments
  ['eth_getBalance', [], -32602, 'missing value for required argument 1'],
  ['eth_getBalance', [A], -32602, 'missing value for required argument 2'],
  ['eth_getBalance', [null, 'latest'], -32602, 'missing value for required argument 1'],
  ['eth_getBalance', [A, 'latest', 1], -32602, 'too many arguments, want at most 2'],
  ['eth_sendRawTransaction', [], -32602, 'missing value for required argument 1'],
  ['eth_call', [{}], -32602, 'missing value for required argument 2'],
  ['eth_getBlockByNumber', ['latest'], -32602, 'missing value for required argument 2'],
  // address
  [
    'eth_getBalance',
    [7, 'latest'],
    -32602,
    'invalid argument 1: json: cannot unmarshal non-string into Go value of type common.Address',
  ],
  [
    'eth_getBalance',
    [{}, 'latest'],
    -32602,
    'invalid argument 1: json: cannot unmarshal non-string into Go value of type common.Address',
  ],
  ['eth_getBalance', ['', 'latest'], -32602, 'invalid argument 1: empty hex string'],
  [
    'eth_getBalance',
    ['0x', 'latest'],
    -32602,
    'invalid argument 1: hex string has length 0, want 40 for common.Address',
  ],
  ['eth_getBalance', ['0x1', 'latest'], -32602, 'invalid argument 1: hex string of odd length'],
  ['eth_getBalance', [A.slice(2), 'latest'], -32602, 'invalid argument 1: hex string without 0x prefix'],
  [
    'eth_getBalance',
    [`${A}00`, 'latest'],
    -32602,
    'invalid argument 1: hex string has length 42, want 40 for common.Address',
  ],
  ['eth_getBalance', [`0x${'zz'.repeat(20)}`, 'latest'], -32602, 'invalid argument 1: invalid hex string'],
  ['eth_getBalance', [` ${A}`, 'latest'], -32602, 'invalid argument 1: hex string without 0x prefix'],
  // block
  ['eth_getBalance', [A, 'safe'], -32602, 'invalid argument 2: hex string without 0x prefix'],
  ['eth_getBalance', [A, 'finalized'], -32602, 'invalid argument 2: hex string without 0x prefix'],
  ['eth_getBlockByNumber', ['safe', false], -32602, 'invalid argument 1: hex string without 0x prefix'],
  ['eth_getBalance', [A, '100'], -32602, 'invalid argument 2: hex string without 0x prefix'],
  ['eth_getBalance', [A, ''], -32602, 'invalid argument 2: empty hex string'],
  ['eth_getBalance', [A, '0x'], -32602, 'invalid argument 2: hex string "0x"'],
  ['eth_getBalance', [A, '0x01'], -32602, 'invalid argument 2: hex number with leading zero digits'],
  ['eth_getBalance', [A, '0xg'], -32602, 'invalid argument 2: invalid hex string'],
  ['eth_getBalance', [A, '0x10000000000000000'], -32602, 'invalid argument 2: hex number > 64 bits'],
  ['eth_getBalance', [A, '0xffffffffffffffff'], -32602, 'invalid argument 2: block number larger than int64'],
  ['eth_getBalance', [A, -1], -32602, 'invalid argument 2: block number is negative'],
  [
    'eth_getBalance',
    [A, 1.5],
    -32602,
    'invalid argument 2: block number is not an integer that JSON can carry exactly',
  ],
  [
    'eth_getBalance',
    [A, true],
    -32602,
    'invalid argument 2: json: cannot unmarshal non-string into Go value of type hexutil.Uint64',
  ],
  [
    'eth_getBalance',
    [A, []],
    -32602,
    'invalid argument 2: json: cannot unmarshal array into Go value of type rpc.BlockNumberOrHash',
  ],
  ['eth_getBalance', [A, {}], -32602, 'invalid argument 2: neither blockHash nor blockNumber given'],
  [
    'eth_getBalance',
    [A, { blockHash: H, blockNumber: '0x1' }],
    -32602,
    'invalid argument 2: cannot specify both BlockHash and BlockNumber, choose one or the other',
  ],
  ['eth_getBalance', [A, '0x7fffffff'], -32000, 'the header does not exist (block number: 2147483647)'],
  ['eth_getBalance', [A, H], -32000, 'header for hash not found'],
  ['eth_getBalance', [A, { blockHash: H }], -32000, 'header for hash not found'],
  // hash, index, boolean, slot
  [
    'eth_getTransactionByHash',
    ['0x1234'],
    -32602,
    'invalid argument 1: hex string has length 4, want 64 for common.Hash',
  ],
  [
    'eth_getBlockByHash',
    [H, 1],
    -32602,
    'invalid argument 2: json: cannot unmarshal number into Go value of type bool',
  ],
  [
    'eth_getBlockByHash',
    [H, 'true'],
    -32602,
    'invalid argument 2: json: cannot unmarshal string into Go value of type bool',
  ],
  [
    'eth_getTransactionByBlockHashAndIndex',
    [H, 1],
    -32602,
    'invalid argument 2: json: cannot unmarshal non-string into Go value of type hexutil.Uint64',
  ],
  [
    'eth_getStorageAt',
    [A, `0x${'1'.repeat(65)}`, 'latest'],
    -32602,
    'invalid argument 2: hex string too long, want at most 32 bytes',
  ],
  ['eth_getStorageAt', [A, '1', 'latest'], -32602, 'invalid argument 2: hex string without 0x prefix'],
  // call object
  [
    'eth_call',
    ['0x', 'latest'],
    -32602,
    'invalid argument 1: json: cannot unmarshal string into Go value of type ethapi.TransactionArgs',
  ],
  [
    'eth_call',
    [[], 'latest'],
    -32602,
    'invalid argument 1: json: cannot unmarshal array into Go value of type ethapi.TransactionArgs',
  ],
  [
    'eth_call',
    [{ to: '0x12' }, 'latest'],
    -32602,
    'invalid argument 1: to: hex string has length 2, want 40 for common.Address',
  ],
  [
    'eth_call',
    [{ to: A, value: 5 }, 'latest'],
    -32602,
    'invalid argument 1: value: json: cannot unmarshal non-string into Go value of type *hexutil.Big',
  ],
  [
    'eth_call',
    [{ to: A, value: '0x00' }, 'latest'],
    -32602,
    'invalid argument 1: value: hex number with leading zero digits',
  ],
  [
    'eth_call',
    [{ to: A, value: `0x1${'0'.repeat(64)}` }, 'latest'],
    -32602,
    'invalid argument 1: value: hex number > 256 bits',
  ],
  [
    'eth_call',
    [{ to: A, gas: '0x10000000000000000' }, 'latest'],
    -32602,
    'invalid argument 1: gas: hex number > 64 bits',
  ],
  ['eth_call', [{ to: A, input: '0x123' }, 'latest'], -32602, 'invalid argument 1: input: hex string of odd length'],
  ['eth_call', [{ to: A, data: 'x' }, 'latest'], -32602, 'invalid argument 1: data: hex string without 0x prefix'],
  [
    'eth_call',
    [{ to: A, gasPrice: '0x1', maxFeePerGas: '0x1' }, 'latest'],
    -32000,
    'both gasPrice and (maxFeePerGas or maxPriorityFeePerGas) specified',
  ],
  [
    'eth_call',
    [{ to: A, maxFeePerGas: '0x1', maxPriorityFeePerGas: '0x2' }, 'latest'],
    -32000,
    'maxFeePerGas (1) < maxPriorityFeePerGas (2)',
  ],
  ['eth_call', [{ to: A, gas: '0x1' }, 'latest'], -32000, 'intrinsic gas too low: msg.gas 1, want 21000'],
  ['eth_call', [{ to: A, from: A, value: '0x1' }, 'latest'], -32000, 'err: insufficient balance for transfer'],
  ['eth_estimateGas', [{ to: A, from: A, value: '0x1' }], -32000, 'err: insufficient balance for transfer'],
  [
    'eth_call',
    [{ to: A, accessList: {} }, 'latest'],
    -32602,
    'invalid argument 1: accessList: json: cannot unmarshal object into Go value of type types.AccessList',
  ],
  [
    'eth_call',
    [{ to: A }, 'latest', 5],
    -32602,
    'invalid argument 3: json: cannot unmarshal number into Go value of type ethapi.StateOverride',
  ],
  [
    'eth_call',
    [{ to: A }, 'latest', { [A]: { state: {}, stateDiff: {} } }],
    -32000,
    `account ${A} has both 'state' and 'stateDiff'`,
  ],
  // filters
  [
    'eth_getLogs',
    ['x'],
    -32602,
    'invalid argument 1: json: cannot unmarshal string into Go value of type filters.input',
  ],
  [
    'eth_getLogs',
    [{ address: '0x12' }],
    -32602,
    'invalid argument 1: hex string has length 2, want 40 for common.Address',
  ],
  [
    'eth_getLogs',
    [{ address: [A, '0x12'] }],
    -32602,
    'invalid argument 1: invalid address at index 1: hex has invalid length 1 after decoding',
  ],
  ['eth_getLogs', [{ address: [5] }], -32602, 'invalid argument 1: non-string address at index 0'],
  ['eth_getLogs', [{ topics: [5] }], -32602, 'invalid argument 1: invalid topic(s)'],
  ['eth_getLogs', [{ topics: [H, H, H, H, H] }], -32602, 'invalid argument 1: exceed max topics'],
  [
    'eth_getLogs',
    [{ blockHash: H, fromBlock: '0x1' }],
    -32602,
    'invalid argument 1: cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other',
  ],
  ['eth_newFilter', [{ fromBlock: '0x5', toBlock: '0x1' }], -32602, 'invalid block range params'],
  ['eth_getFilterChanges', ['0x1'], -32000, 'filter not found'],
  [
    'eth_getFilterChanges',
    [1],
    -32602,
    'invalid argument 1: json: cannot unmarshal non-string into Go value of type *hexutil.Big',
  ],
  // fees, ranges, keys
  ['eth_feeHistory', ['0x2', '0x7fffffff', []], -32000, 'request beyond head block: requested 2147483647, head '],
  ['eth_feeHistory', [-1, 'latest', []], -32602, 'invalid argument 1: block count is not a whole number'],
  ['eth_feeHistory', ['0x2', 'latest', [50, 10]], -32000, 'invalid reward percentile: #0:50 >= #1:10'],
  ['eth_feeHistory', ['0x2', 'latest', [101]], -32000, 'invalid reward percentile: 101'],
  [
    'eth_feeHistory',
    ['0x2', 'latest', Array.from({ length: 101 }, () => 1)],
    -32000,
    'invalid reward percentile: over the query limit 100',
  ],
  ['native_getBlockWithConsensusInfoRange', ['0x0', '0x64'], -32602, 'block range too large: at most 100 blocks'],
  ['native_getBlockWithConsensusInfoRange', ['0x1', '0x0'], -32602, 'invalid block range: from is after to'],
  ['eth_sign', [A, '0x'], -32000, 'unknown account'],
  ['eth_signTransaction', [{ from: A }], -32000, 'missing gasPrice or maxFeePerGas/maxPriorityFeePerGas'],
  ['eth_sendTransaction', [{ from: A, to: A, gasPrice: '0x1' }], -32000, 'unknown account'],
  ['eth_sendRawTransaction', ['0x1'], -32602, 'invalid argument 1: hex string of odd length'],
  [
    'eth_sendRawTransaction',
    [{}],
    -32602,
    'invalid argument 1: json: cannot unmarshal non-string into Go value of type hexutil.Bytes',
  ],
]

const SOCKET_ONLY: typeof PARAMETERS = [
  ['eth_subscribe', [], -32602, 'missing value for required argument 1'],
  ['eth_subscribe', [5], -32602, 'invalid argument 1: json: cannot unmarshal non-string into Go value of type string'],
  ['eth_subscribe', ['blocks'], -32601, 'no "blocks" subscription in eth namespace'],
  ['native_subscribe', ['blocks'], -32601, 'no "blocks" subscription in native namespace'],
  [
    'eth_subscribe',
    ['newPendingTransactions', 'yes'],
    -32602,
    'invalid argument 2: json: cannot unmarshal string into Go value of type bool',
  ],
  ['eth_subscribe', ['logs', { address: '0x1' }], -32602, 'invalid argument 2: hex string of odd length'],
  [
    'eth_subscribe',
    ['logs', 7],
    -32602,
    'invalid argument 2: json: cannot unmarshal number into Go value of type filters.input',
  ],
  ['eth_unsubscribe', ['0x1'], -32000, 'subscription not found'],
]

describe('parameters', () => {
  test.each(PARAMETERS)('%s %j', async (method, params, code, text) => {
    for (const [way, send] of ways) {
      const { error, id } = JSON.parse(await send(call(method, params, way))) as ReturnType<typeof failure>
      expect({ id, code: error.code, message: error.message.slice(0, text.length) }, way).toEqual({
        id: way,
        code,
        message: text,
      })
      if (!text.endsWith(' ')) expect(error.message).toBe(text)
    }
  })

  test.each(SOCKET_ONLY)('%s %j', async (method, params, code, text) => {
    expect(JSON.parse(await overSocket(call(method, params)))).toEqual(failure(code, text, 1))
    expect(JSON.parse(await post({})(call(method, params)))).toEqual(failure(-32000, 'notifications not supported', 1))
  })
})
