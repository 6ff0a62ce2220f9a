import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { RPC_LIMITS } from '../../../../../src/config/limits/clients.ts'
import { HttpWire, postText, type WireResponse } from '../../../../support/http-wire.ts'
import { sleep } from '../../../../support/node-process.ts'
import { Rig } from '../../../../support/rpc/rig.ts'

const CHAIN_ID = '0x134fe69'
const callOf = (id: unknown, method = 'eth_chainId', params: unknown = []): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params })
const idOf = ({ body }: WireResponse): unknown => (JSON.parse(body) as { readonly id: unknown }).id

/** A call that is answered when the test says so. */
const SLOW = callOf('slow', 'eth_getLogs', [{ fromBlock: '0x0', toBlock: 'latest' }])

let rig: Rig
let finish: () => void
let wires: HttpWire[]
beforeEach(async () => {
  wires = []
  const waiting: (() => void)[] = []
  finish = () => {
    for (const resolve of waiting.splice(0)) resolve()
  }
  rig = await Rig.start({
    logQueryPort: {
      text: () => new Promise(resolve => waiting.push(() => resolve([new TextEncoder().encode('[]').slice()]))),
    },
  })
  rig.chain.append()
})
afterEach(async () => {
  for (const wire of wires) wire.end()
  await rig.stop()
})
const open = async (from?: string): Promise<HttpWire> => {
  const wire = await HttpWire.open(rig.server.port, from)
  wires.push(wire)
  return wire
}

describe('the body of a request', () => {
  const smuggled = postText(callOf('smuggled'))
  const LENGTHS = [3_000, 300_000]

  test.each([7, 1_000, 16_384])('is never a request, in pieces of %i bytes while an earlier call runs', async size => {
    for (const length of LENGTHS) {
      // No JSON, and whole requests wherever it is cut.
      const body = `"${smuggled.repeat(length / smuggled.length)}"`
      const bytes = Buffer.from(postText(body))
      const pieces: Buffer[] = []
      for (let at = 0; at < bytes.byteLength && pieces.length < 60; at += size)
        pieces.push(bytes.subarray(at, pieces.length === 59 ? bytes.byteLength : at + size))
      for (const finishAt of [0, 9, 25]) {
        const wire = await open()
        await wire.send(postText(SLOW))
        for (const [index, piece] of pieces.entries()) {
          if (index === finishAt) finish()
          await wire.send(piece)
        }
        finish()
        await wire.send(postText(callOf('last')))
        expect((await wire.until(3)).map(idOf)).toEqual(['slow', null, 'last'])
      }
    }
  })
})

describe('a request cut in two', () => {
  const CALL = callOf('é€😀')
  const chunks = `1;x=y\r\n{\r\n${(Buffer.byteLength(CALL) - 1).toString(16)}\r\n${CALL.slice(1)}\r\n0\r\nx: y\r\n\r\n`
  test.each([
    ['with a length', postText(CALL)],
    ['of a page', postText(CALL, 'origin: https://app.example\r\n')],
    [
      'in chunks',
      `POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n${chunks}`,
    ],
    ['of HTTP/1.0', postText(CALL, 'connection: keep-alive\r\n').replace('HTTP/1.1', 'HTTP/1.0')],
  ])('at every byte is answered once (%s)', async (_, text) => {
    const bytes = Buffer.from(text)
    const wire = await open()
    for (let cut = 1; cut < bytes.byteLength; cut++) {
      await wire.send(bytes.subarray(0, cut), bytes.subarray(cut))
      await wire.until(cut)
    }
    await sleep(20)
    expect(wire.responses).toHaveLength(bytes.byteLength - 1)
    expect(wire.responses.every(({ body }) => body.includes('"id":"é€😀"') && body.includes(CHAIN_ID))).toBe(true)
  })
})

describe('requests sent without waiting', () => {
  test('are answered in order, whatever each of them takes', async () => {
    const wire = await open()
    const count = 300
    const texts = Array.from({ length: count }, (_, id) =>
      id % 7 === 3 ? 'GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n' : postText(callOf(id)),
    )
    await wire.send(postText(SLOW) + texts.join(''))
    await sleep(20)
    expect(wire.responses).toHaveLength(0)
    finish()
    const responses = await wire.until(count + 1)
    const ids = responses.slice(1).map(response => (response.body.includes('healthy') ? 'health' : idOf(response)))
    expect(ids).toEqual(texts.map((_, id) => (id % 7 === 3 ? 'health' : id)))
  })

  test.each(['h2c', 'TLS/1.0', 'h2c, websocket'])('behind an upgrade to %s that is not taken', async protocol => {
    const upgrade = `connection: upgrade\r\nupgrade: ${protocol}\r\n`
    for (const text of [postText(callOf(1), upgrade), `GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n${upgrade}\r\n`])
      for (const later of [false, true]) {
        const wire = await open()
        await wire.send(...(later ? [text, postText(callOf(2))] : [text + postText(callOf(2))]))
        // The bytes behind it were never understood as a request: the connection says so by its end.
        await wire.closed()
        expect(wire.responses.map(({ status }) => status)).toEqual([200])
        expect(wire.responses[0]?.head).toMatch(/connection: close/i)
      }
  })

  test('behind garbage: what was asked before is answered or the connection ends, never an answer to another', async () => {
    const wire = await open()
    await wire.send(`${postText(SLOW)}garbage\r\n\r\n`)
    await sleep(20)
    finish()
    await wire.closed()
    expect(wire.responses.filter(({ status }) => status === 400)).toHaveLength(0)
    const other = await open()
    await other.send('garbage\r\n\r\n')
    await other.closed()
    expect(other.responses.map(({ status }) => status)).toEqual([400])
  })
})

describe('forms of a request', () => {
  test('that expects 100-continue', async () => {
    const wire = await open()
    const [head = '', body = ''] = postText(callOf(1), 'expect: 100-continue\r\n').split(/(?<=\r\n\r\n)/)
    await wire.send(head)
    await sleep(20)
    await wire.send(body)
    expect((await wire.until(1)).map(idOf)).toEqual([1])
    await wire.send(postText(callOf(2), 'expect: something\r\n'))
    expect((await wire.until(2))[1]?.status).toBe(417)
  })

  test('of HTTP/1.0 ends its connection', async () => {
    const wire = await open()
    await wire.send(postText(callOf(1)).replace('HTTP/1.1', 'HTTP/1.0'))
    await wire.closed()
    expect(wire.responses.map(idOf)).toEqual([1])
  })

  test.each([
    ['two lengths', postText(callOf(1), 'content-length: 3\r\n')],
    ['a length and chunks', postText(callOf(1), 'transfer-encoding: chunked\r\n')],
    ['a space before the colon', postText(callOf(1)).replace('content-length:', 'content-length :')],
    ['a bare line feed', postText(callOf(1), 'x: a\ntransfer-encoding: chunked\r\n')],
    ['no host', postText(callOf(1)).replace('host: 127.0.0.1\r\n', '')],
    ['a head of 60 kB', postText(callOf(1), `x:${'y'.repeat(60_000)}\r\n`)],
  ])('that two readers could understand differently is refused, and ends its connection: %s', async (_, text) => {
    const wire = await open()
    await wire.send(text + postText(callOf(2)))
    await wire.closed()
    expect(wire.responses.map(({ status }) => status)).toEqual([text.length > 60_000 ? 431 : 400])
  })
})

describe('large bodies at once', () => {
  /** `count` valid calls of so many bytes, each on a connection of its own. */
  const together = async (count: number, bytes: number): Promise<readonly WireResponse[]> => {
    const body = callOf(1).padEnd(bytes)
    return Promise.all(
      Array.from({ length: count }, async () => {
        const wire = await open()
        wire.socket.write(postText(body))
        return (await wire.until(1))[0] as WireResponse
      }),
    )
  }
  test.each([
    [8, 2_600_000],
    [12, 1_500_000],
    [4, RPC_LIMITS.bodyBytes],
  ])('%i of %i bytes get a result, or a 503 that says when to come again', async (count, bytes) => {
    for (let round = 0; round < 3; round++) {
      const responses = await together(count, bytes)
      for (const { status, head, body } of responses)
        if (status === 200) expect(body).toContain(CHAIN_ID)
        else {
          expect([status, body]).toEqual([503, expect.stringContaining('try again later')])
          expect(head).toMatch(/retry-after: 1/i)
        }
      expect(responses.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(1)
    }
    expect(rig.server.budgets.bodies.held).toBe(0)
  })
})
