import { connect } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import type { RpcServerOptions } from '../../../../../src/rpc/server.ts'
import { createRandom, type Random } from '../../../../../src/sim/random.ts'
import { signedTransaction } from '../../../../support/rpc/memory-chain.ts'
import { Rig } from '../../../../support/rpc/rig.ts'
import { SEED } from '../../../../support/seed.ts'

const CALL = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}'
const CALLS = [CALL, '{"jsonrpc":"2.0","id":2,"method":"eth_feeHistory","params":[1,"latest"]}', '{']
const APP = 'https://app.example'

/** Values of Origin, honest and hostile. */
const ORIGINS = [
  ...[APP, APP, ` ${APP}\t`, 'https://app.example:443', 'HTTPS://app.example', 'https://evil.example', 'null', '', '*'],
  ...['http://localhost:3000', 'http://127.0.0.1', 'http://[::1]:5173', 'http://localhost.evil.example', 'file://'],
  ...[`${APP}, ${APP}`, `${APP} https://evil.example`, `${APP}\x00`, `${APP}\xa0`, `https://\xe9.example`],
  ...[`${APP}\nX: y`, `${APP}\rX: y`, `${APP}\r\n X: y`, 'x'.repeat(3_000), `${APP}\x7f`],
]
const NAMES = ['Origin', 'Origin', 'origin', 'ORIGIN', 'Origin ', 'Origin\t', 'Sec-Origin', '\xd6rigin']
/** What a browser sends besides, and what it never would. */
const OTHERS = [
  ...['Accept: */*', 'Sec-Fetch-Mode: cors', 'Referer: https://app.example/', 'Accept-Language: en', 'DNT: 1'],
  ...['Access-Control-Request-Method: POST', 'Access-Control-Request-Headers: content-type', 'Connection: close'],
  ...['Content-Type: text/plain', 'Transfer-Encoding: chunked', 'Expect: nothing', 'X: a\nOrigin: null', ' folded'],
]

const headOf = (random: Random, body: string): string => {
  const isPreflight = random.chance(0.4)
  const fields = [
    `Host: ${random.pick(['x', 'x', 'x', '127.0.0.1', 'evil.example'])}`,
    ...(isPreflight && random.chance(0.9) ? [] : ['Content-Type: application/json', `Content-Length: ${body.length}`]),
    ...Array.from({ length: random.below(3) }, () => random.pick(OTHERS)),
    ...Array.from({ length: random.pick([0, 1, 1, 1, 1, 2]) }, () => `${random.pick(NAMES)}: ${random.pick(ORIGINS)}`),
  ]
  fields.sort(() => random.next() - 0.5)
  return [`${isPreflight ? 'OPTIONS' : 'POST'} ${random.pick(['/', '/', '/', '/ws', '*'])} HTTP/1.1`, ...fields].join(
    '\r\n',
  )
}

interface Seen {
  readonly status: string | undefined
  /** Those that a browser or a proxy decides by. */
  readonly fields: readonly string[]
  readonly body: string
  readonly isLane: boolean
}

const TOLD = /^(access-control-[a-z-]+|transfer-encoding|vary|allow|content-length|www-authenticate|retry-after|x):/i

const ask = async (rig: Rig, bytes: Buffer): Promise<Seen> => {
  const socket = connect({ port: rig.server.port, host: '127.0.0.1', noDelay: true })
  let text = ''
  const whole = new Promise<void>(resolve => {
    socket.setEncoding('latin1')
    socket.on('error', () => resolve())
    socket.on('close', () => resolve())
    socket.on('data', chunk => {
      text += chunk
      const end = text.indexOf('\r\n\r\n')
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
      if (end !== -1 && text.length >= end + 4 + length) resolve()
    })
  })
  socket.write(bytes)
  await whole
  socket.destroy()
  const end = text.indexOf('\r\n\r\n')
  const [status, ...fields] = text.slice(0, end).split('\r\n')
  return {
    status,
    fields: fields
      .filter(field => TOLD.test(field))
      .map(field => field.toLowerCase())
      .sort(),
    body: text.slice(end + 4),
    isLane: !/keep-alive: timeout|connection: close/i.test(text),
  }
}

const rigs: Rig[] = []
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.stop()
})
/** A server with the lane, and one without it: only the HTTP server compresses. */
const both = async (options: Partial<RpcServerOptions>): Promise<readonly [Rig, Rig]> => {
  const pair = [await Rig.start(options), await Rig.start({ ...options, compression: true })] as const
  rigs.push(...pair)
  return pair
}

const RULES: readonly Partial<RpcServerOptions>[] = [
  {},
  { cors: ['*'] },
  { cors: [APP, 'null'], hosts: ['x'] },
  { cors: ['*'], hosts: ['x'], checkOrigin: true },
  { cors: [APP], checkOrigin: true },
  { checkOrigin: true },
  { cors: [APP], clientRules: { jwtSecret: new Uint8Array(32).fill(7) } },
]

describe('a page gets the same from the lane as from the HTTP server', () => {
  test.each(RULES.map(rules => [JSON.stringify(rules), rules] as const))('%s', async (_, rules) => {
    const random = createRandom(SEED)
    const [lane, server] = await both(rules)
    let inLane = 0
    for (let index = 0; index < 120; index++) {
      const body = random.pick(CALLS)
      const head = headOf(random, body)
      const hasBody = /content-length/i.test(head)
      const bytes = Buffer.from(`${head}\r\n\r\n${hasBody ? body : ''}`, 'latin1')
      const [fast, slow] = await Promise.all([ask(lane, bytes), ask(server, bytes)])
      if (fast.isLane) inLane++
      expect({ ...fast, isLane: false }, `SEED=${SEED} ${JSON.stringify(head)}`).toEqual({ ...slow, isLane: false })
    }
    expect(inLane).toBeGreaterThan(20)
  })
})

const post = (origin: string, body: string): Buffer =>
  Buffer.from(
    `POST / HTTP/1.1\r\nHost: x\r\nOrigin: ${origin}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )

test('a preflight, calls of two pages and a call of none are answered in the lane, on one connection', async () => {
  const [rig] = await both({ cors: [APP, 'null'] })
  const preflight = `OPTIONS / HTTP/1.1\r\nHost: x\r\nOrigin: ${APP}\r\nAccess-Control-Request-Method: POST\r\n\r\n`
  const [, later = ''] = CALLS
  const socket = connect({ port: rig.server.port, host: '127.0.0.1' })
  let text = ''
  const answers = new Promise<void>(resolve => {
    socket.setEncoding('latin1').on('data', chunk => {
      text += chunk
      if (text.split('"jsonrpc"').length === 5) resolve()
    })
  })
  socket.write(
    Buffer.concat([
      Buffer.from(preflight),
      ...[post(APP, CALL), post('null', later), post('https://evil.example', CALL), post(APP, later)],
    ]),
  )
  await answers
  socket.destroy()
  const heads = text.split('HTTP/1.1 ').slice(1)
  expect(heads.map(head => /access-control-allow-origin: (.*)\r/i.exec(head)?.[1])).toEqual([
    ...[APP, APP, 'null', undefined, APP],
  ])
  expect(heads.some(head => /keep-alive: timeout/i.test(head))).toBe(false)
})

test('a page reads that it sent too many requests', async () => {
  const batch = `[${Array.from({ length: 10 }, () => CALL).join(',')}]`
  const rules = { clientRules: { rateLimit: { perSecond: 0.001, burst: 5 } }, cors: ['*'] }
  for (const rig of await both(rules)) {
    const [, refused] = [await ask(rig, post(APP, batch)), await ask(rig, post(APP, CALL))]
    expect(refused?.status).toBe('HTTP/1.1 429 Too Many Requests')
    expect(refused?.fields).toContain('access-control-allow-origin: *')
  }
})

test('so is a response in chunks', async () => {
  const [rig] = await both({ cors: [APP] })
  const transaction = signedTransaction({ nonce: 0 })
  rig.chain.append({ transactions: Array.from({ length: 300 }, () => transaction), logs: [] })
  const { fields, isLane } = await ask(
    rig,
    post(APP, '{"jsonrpc":"2.0","id":1,"method":"eth_getBlockReceipts","params":["latest"]}'),
  )
  expect(fields).toEqual([`access-control-allow-origin: ${APP}`, 'transfer-encoding: chunked', 'vary: origin'])
  expect(isLane).toBe(true)
})
