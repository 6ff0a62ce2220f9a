import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { RPC_LIMITS } from '../../../../../src/config/limits/clients.ts'
import { type ClientRules, Clients } from '../../../../../src/rpc/transport/clients/clients.ts'
import { LaneHeads } from '../../../../../src/rpc/transport/http/lane-heads.ts'
import { createRandom, type Random } from '../../../../../src/sim/random.ts'
import { Rig } from '../../../../support/rpc/rig.ts'
import { SEED } from '../../../../support/seed.ts'

const CALL = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}'
const SECRET = new Uint8Array(32).fill(7)
const KEYS = [{ name: 'shop', key: 'k'.repeat(20), perSecond: 2 }]

const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const token = (iat: number, secret = SECRET): string => {
  const body = `${base64({ alg: 'HS256', typ: 'JWT' })}.${base64({ iat })}`
  return `${body}.${createHmac('sha256', secret).update(body).digest('base64url')}`
}
const nowSeconds = (): number => Math.floor(Date.now() / 1_000)

/** Values of the fields that tell a client, honest and hostile. */
const VALUES = [
  ...['203.0.113.7', ' 203.0.113.7 ', '203.0.113.7:4711', '[2001:db8::1]:99', '2001:db8::1', '::ffff:198.51.100.4'],
  ...['203.0.113.7, 10.0.0.9', '203.0.113.7,127.0.0.1', '127.0.0.1, 127.0.0.1', ',', ',,203.0.113.7', 'unknown', ''],
  ...[
    '203.0.113.7\t,\t198.51.100.4',
    '1.2.3.4.5',
    '256.1.1.1',
    '0x7f.1',
    '203.0.113.7;x',
    '203.0.113.7\x00',
    '\xa0203.0.113.7',
  ],
  ...[
    'for=203.0.113.7',
    'for="[2001:db8::1]:80"',
    'for=203.0.113.7;proto=https, for=127.0.0.1',
    'for="203.0.113.7',
    'for=_hidden',
  ],
  ...[
    'For=203.0.113.7',
    'for=203.0.113.7,for=',
    'by=198.51.100.4',
    'for=203.0.113.7;for=198.51.100.4',
    'for="\\203.0.113.7"',
  ],
  ...[`${'1.1.1.1,'.repeat(600)}203.0.113.7`, '"'.repeat(500), `for=${'\\'.repeat(700)}`, 'for='.repeat(300)],
  ...[
    'k'.repeat(20),
    'kk',
    `Bearer ${token(nowSeconds())}`,
    `Bearer ${token(nowSeconds() - 61)}`,
    'Bearer ..',
    'bearer',
  ],
]
const NAMES = ['X-Forwarded-For', 'x-forwarded-for', 'Forwarded', 'FORWARDED', 'X-Api-Key', 'Authorization', 'X-Other']
const FORMS = ['one', 'one', 'one', 'two', 'folded', 'spaced', 'bare line feed', 'under_score'] as const

const fieldOf = (random: Random): string => {
  const [name, value, other] = [random.pick(NAMES), random.pick(VALUES), random.pick(VALUES)]
  const forms = {
    one: `${name}: ${value}`,
    two: `${name}: ${value}\r\n${random.pick([name, name.toLowerCase()])}: ${other}`,
    folded: `${name}: ${value},\r\n ${other}`,
    spaced: `${name} : ${value}`,
    'bare line feed': `${name}: ${value}\n${name}: ${other}`,
    under_score: `${name.replaceAll('-', '_')}: ${value}`,
  }
  return forms[random.pick(FORMS)]
}

const RULES: readonly ClientRules[] = [
  { trustProxy: { proxies: 1, header: 'x-forwarded-for' } },
  { trustProxy: { proxies: 2, header: 'x-forwarded-for' } },
  { trustProxy: { proxies: ['loopback', '10.0.0.0/8'], header: 'x-forwarded-for' } },
  { trustProxy: { proxies: ['192.0.2.1'], header: 'x-forwarded-for' } },
  { trustProxy: { proxies: ['loopback'], header: 'forwarded' } },
  { trustProxy: { proxies: 1, header: 'x-forwarded-for' }, apiKeys: KEYS },
  { apiKeys: KEYS },
  { jwtSecret: SECRET },
]

describe('a client is the same to the lane as to the HTTP server', () => {
  test.each(RULES.map(rules => [JSON.stringify(rules), rules] as const))('%s', async (_, rules) => {
    const random = createRandom(SEED)
    const clients = new Clients(rules)
    let seen: IncomingMessage | undefined
    const server = createServer((request, response) => {
      seen = request
      response.end()
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    let inLane = 0
    for (let index = 0; index < 150; index++) {
      const fields = Array.from({ length: 1 + random.below(2) }, () => fieldOf(random))
      const head = [
        'POST / HTTP/1.1',
        'Host: x',
        'Content-Type: application/json',
        ...fields,
        'Content-Length: 2',
      ].join('\r\n')
      const bytes = Buffer.from(`${head}\r\n\r\n{}`, 'latin1')
      seen = undefined
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
      socket.on('error', () => {})
      socket.write(bytes)
      await new Promise(resolve => socket.once('data', resolve).once('close', resolve))
      const heads = new LaneHeads(socket, { clients, hosts: ['*'], cors: [], checkOrigin: false })
      let request = heads.first(bytes)
      while (request instanceof Promise) {
        await request
        request = heads.first(bytes)
      }
      const about = `SEED=${SEED} ${JSON.stringify(head.slice(0, 300))}`
      if (request !== undefined) {
        inLane++
        // A lane may leave a head to the server; one that it takes must be one that the server takes.
        expect(seen, about).toBeDefined()
        const identity = await clients.identify(seen as unknown as IncomingMessage)
        expect(request.identity?.address, about).toBe(identity?.address)
        expect(request.identity?.limiter, about).toBe(identity?.limiter)
        expect(request.to, about).toBe(bytes.byteLength)
      }
      socket.destroy()
    }
    expect(inLane).toBeGreaterThan(20)
    await new Promise(resolve => server.close(resolve))
  })

  test('repeated, folded and too many fields are left to the HTTP server', () => {
    const clients = new Clients(RULES[0] as ClientRules)
    const heads = new LaneHeads({ remoteAddress: '127.0.0.1' }, { clients, hosts: ['*'], cors: [], checkOrigin: false })
    const first = (...fields: string[]) =>
      heads.first(
        Buffer.from(
          [
            'POST / HTTP/1.1',
            'Host: x',
            'Content-Type: application/json',
            ...fields,
            'Content-Length: 2',
            '',
            '{}',
          ].join('\r\n'),
        ),
      )
    expect(first('X-Forwarded-For: 203.0.113.7')).toMatchObject({ identity: { address: '203.0.113.7' } })
    expect(first('X-Forwarded-For: 203.0.113.7', 'x-forwarded-for: 198.51.100.4')).toBeUndefined()
    expect(first('X-Forwarded-For: 203.0.113.7,', ' 198.51.100.4')).toBeUndefined()
    expect(first(...Array<string>(300).fill('a: b'), 'X-Forwarded-For: 203.0.113.7')).toBeUndefined()
  })
})

/** A server with the lane, and one without it: only the HTTP server compresses. */
const rigs: Rig[] = []
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.stop()
})
const both = async (clientRules: ClientRules): Promise<readonly [Rig, Rig]> => {
  const pair = [await Rig.start({ clientRules }), await Rig.start({ clientRules, compression: true })] as const
  rigs.push(...pair)
  return pair
}

interface Seen {
  readonly status: string
  readonly fields: string
  readonly body: string
  readonly isLane: boolean
}

/** Asks one thing after the other on one connection. */
const ask = async (rig: Rig, requests: readonly string[]): Promise<readonly Seen[]> => {
  const socket: Socket = connect({ port: rig.server.port, host: '127.0.0.1', noDelay: true })
  const answers: Seen[] = []
  let text = ''
  let arrived: (() => void) | undefined
  socket.setEncoding('latin1')
  socket.on('data', chunk => {
    text += chunk
    const end = text.indexOf('\r\n\r\n')
    const length = Number(/content-length: (\d+)/i.exec(text)?.[1])
    if (end === -1 || text.length < end + 4 + length) return
    const [status = '', ...fields] = text.slice(0, end).split('\r\n')
    const told = fields.filter(field => /^(content-type|www-authenticate|retry-after|content-length):/i.test(field))
    answers.push({
      status,
      fields: told
        .map(field => field.toLowerCase().replace('application/json; charset=utf-8', 'application/json'))
        .sort()
        .join('\n'),
      body: text.slice(end + 4, end + 4 + length),
      isLane: !/keep-alive: timeout/i.test(text),
    })
    text = text.slice(end + 4 + length)
    arrived?.()
  })
  for (const request of requests) {
    await new Promise<void>(resolve => {
      arrived = resolve
      socket.once('close', () => resolve())
      socket.write(request)
    })
  }
  socket.destroy()
  return answers
}

const post = (fields: string, body = CALL): string =>
  `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${fields}Content-Length: ${body.length}\r\n\r\n${body}`
const without = (answers: readonly Seen[]) => answers.map(({ isLane: _, ...rest }) => rest)

describe('the lane answers as the HTTP server', () => {
  // So slow that nothing is refilled while the test runs.
  const rateLimit = { perSecond: 0.000_1, burst: 2.5 }
  const from = (address: string, body = CALL) => post(`X-Forwarded-For: ${address}\r\n`, body)
  const batch = `[${CALL},${CALL}]`

  test('clients behind one proxy have limits of their own, on one connection', async () => {
    const [lane, plain] = await both({ trustProxy: { proxies: 1, header: 'x-forwarded-for' }, rateLimit })
    const requests = [
      ...[
        from('203.0.113.7'),
        from('198.51.100.4'),
        from('203.0.113.7', batch),
        from('203.0.113.7'),
        from('198.51.100.4'),
      ],
      // What stands before the last entry is the client's own claim.
      ...[
        from('8.8.8.8, 203.0.113.7'),
        from('203.0.113.7, 192.0.2.1'),
        post('Forwarded: for=192.0.2.9\r\n'),
        from('203.0.113.7'),
      ],
    ]
    const answers = await ask(lane, requests)
    expect(answers.map(({ isLane }) => isLane)).toEqual(requests.map(() => true))
    const statuses = answers.map(({ status }) => status.split(' ')[1])
    expect(statuses).toEqual(['200', '200', '200', '429', '200', '429', '200', '200', '429'])
    expect(without(answers)).toEqual(without(await ask(plain, requests)))
  })

  test('keys and tokens: the right one, a wrong one, none', async () => {
    const key = (text: string) => post(`X-Api-Key: ${text}\r\n`)
    const bearer = (iat: number, secret = SECRET) => post(`Authorization: Bearer ${token(iat, secret)}\r\n`)
    const seconds = nowSeconds()
    const wrong = new Uint8Array(32).fill(8)
    for (const [rules, requests, statuses] of [
      [{ apiKeys: KEYS, rateLimit }, [key('k'.repeat(20)), key('wrong'), post(''), key('wrong')], '200 401 200 401'],
      [
        { jwtSecret: SECRET },
        [bearer(seconds), bearer(seconds), bearer(seconds, wrong), bearer(seconds - 90), post(''), bearer(seconds)],
        '200 200 401 401 401 200',
      ],
    ] as const) {
      const [lane, plain] = await both(rules)
      const answers = await ask(lane, requests)
      expect(answers.map(({ status }) => status.split(' ')[1]).join(' ')).toBe(statuses)
      expect(answers.every(({ isLane }) => isLane)).toBe(true)
      expect(without(answers)).toEqual(without(await ask(plain, requests)))
    }
  })

  test('a client without room for its request takes no answer from the one before it', async () => {
    const [lane] = await both({ trustProxy: { proxies: 1, header: 'x-forwarded-for' } })
    const held = lane.server.budgets.bodies.meter('203.0.113.8')
    expect(held.hold(RPC_LIMITS.budgets.bodies.client)).toBe(true)
    const socket = connect({ port: lane.server.port, host: '127.0.0.1' })
    socket.write(from('203.0.113.7') + from('203.0.113.8', CALL.replace('1,', `1,${' '.repeat(10_000)}`)))
    let text = ''
    for await (const chunk of socket) text += chunk
    expect(text.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 503'])
    held.hold(0)
  })

  test('bytes of a request are held by its client, not by the proxy', async () => {
    const [lane] = await both({ trustProxy: { proxies: 1, header: 'x-forwarded-for' } })
    const { bodies } = lane.server.budgets
    const long = from('203.0.113.7', CALL.replace('1,', `1,${' '.repeat(200_000)}`))
    const socket = connect({ port: lane.server.port, host: '127.0.0.1' })
    socket.on('error', () => {})
    socket.write(long.slice(0, 60_000))
    while (bodies.held === 0) await new Promise(resolve => setTimeout(resolve, 2))
    expect(bodies.heldBy('203.0.113.7')).toBe(bodies.held)
    socket.write(long.slice(60_000))
    await new Promise(resolve => socket.once('data', resolve))
    while (bodies.held > 0) await new Promise(resolve => setTimeout(resolve, 2))
    socket.destroy()
  })
})
