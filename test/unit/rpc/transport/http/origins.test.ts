import { connect } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import type { RpcServerOptions } from '../../../../../src/rpc/transport/server.ts'
import { signedTransaction } from '../../../../support/rpc/memory-chain.ts'
import { Rig } from '../../../../support/rpc/rig.ts'

const CALL = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}'
const CALLS = [CALL, '{"jsonrpc":"2.0","id":2,"method":"eth_feeHistory","params":[1,"latest"]}', '{']
const APP = 'https://app.example'

interface Seen {
  readonly status: string | undefined
  /** Header fields by which a browser or a proxy decides. */
  readonly fields: readonly string[]
  readonly body: string
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
  }
}

const rigs: Rig[] = []
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.stop()
})
const start = async (options: Partial<RpcServerOptions>): Promise<Rig> => {
  const rig = await Rig.start(options)
  rigs.push(rig)
  return rig
}

const post = (origin: string, body: string): Buffer =>
  Buffer.from(
    `POST / HTTP/1.1\r\nHost: x\r\nOrigin: ${origin}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )

test('a preflight, calls of two pages and a call of none are answered on one connection', async () => {
  const rig = await start({ cors: [APP, 'null'] })
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
})

test('a page reads that it sent too many requests', async () => {
  const batch = `[${Array.from({ length: 10 }, () => CALL).join(',')}]`
  const rules = { clientRules: { rateLimit: { perSecond: 0.001, burst: 5 } }, cors: ['*'] }
  const rig = await start(rules)
  await ask(rig, post(APP, batch))
  const { status, fields } = await ask(rig, post(APP, CALL))
  expect(status).toBe('HTTP/1.1 429 Too Many Requests')
  expect(fields).toContain('access-control-allow-origin: *')
})

test('so is a response in chunks', async () => {
  const rig = await start({ cors: [APP] })
  const transaction = signedTransaction({ nonce: 0 })
  rig.chain.append({ transactions: Array.from({ length: 300 }, () => transaction), logs: [] })
  const { fields } = await ask(
    rig,
    post(APP, '{"jsonrpc":"2.0","id":1,"method":"eth_getBlockReceipts","params":["latest"]}'),
  )
  expect(fields).toEqual([`access-control-allow-origin: ${APP}`, 'transfer-encoding: chunked', 'vary: origin'])
})
