import { once } from 'node:events'
import type { Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { LIMITS } from '../../../src/config/limits.ts'
import { BODIES_FULL, BodyBytes } from '../../../src/rpc/body-bytes.ts'
import { dial, exchange, readAll, request } from '../../support/raw-http.ts'
import { Rig } from '../../support/rpc/rig.ts'

const { bodyBytes, bodiesBytes, smallBodyBytes } = LIMITS.rpc

describe('the count', () => {
  it('leaves small bodies out, and gives back what is held no more', () => {
    const bodies = new BodyBytes(1_000)
    const [one, two] = [bodies.meter(), bodies.meter()]
    expect(one.hold(smallBodyBytes + 900)).toBe(true)
    expect(two.hold(smallBodyBytes + 200)).toBe(false)
    expect(two.hold(smallBodyBytes)).toBe(true)
    expect(two.hold(smallBodyBytes + 100)).toBe(true)
    expect(bodies.heldBytes).toBe(1_000)
    expect(one.hold(smallBodyBytes + 800)).toBe(true)
    expect(two.hold(smallBodyBytes + 200)).toBe(true)
    for (const meter of [one, two]) meter.hold(0)
    expect(bodies.heldBytes).toBe(0)
  })
})

describe('a server whose room for bodies is taken', () => {
  let rig: Rig
  let open: Socket[]
  const big = Buffer.alloc(bodyBytes - 1, 0x20)
  const head = (type = 'application/json', more = ''): string =>
    `POST / HTTP/1.1\r\nhost: x\r\ncontent-type: ${type}\r\n${more}content-length: ${bodyBytes}\r\n\r\n`

  beforeEach(async () => {
    rig = await Rig.start()
    open = []
  })
  afterEach(async () => {
    for (const socket of open) socket.destroy()
    await rig.stop()
  })
  /** As many bodies, each but for its last byte, as there is room for. */
  const fill = async (): Promise<void> => {
    for (let held = 0; held + bodyBytes - smallBodyBytes <= bodiesBytes; held += bodyBytes - smallBodyBytes) {
      const socket = await dial(rig.server.port)
      open.push(socket)
      // An Origin takes the way of the full HTTP server, which needs no second look here.
      socket.write(head('application/json', open.length % 2 === 0 ? 'origin: http://x\r\n' : ''))
      await new Promise(resolve => socket.write(big, resolve))
    }
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  const CALL = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}'
  const small = (more = {}) =>
    exchange(rig.server.port, request('POST /', { 'content-type': 'application/json', ...more }, CALL))

  it('refuses large ones with 503 and answers small ones, and large ones again when there is room', async () => {
    await fill()
    for (const more of ['', 'origin: http://x\r\n']) {
      const late = await dial(rig.server.port)
      const answered = readAll(late, 5_000)
      late.write(head('application/json', more))
      late.write(big)
      const answer = await answered
      expect(answer).toMatch(/^HTTP\/1\.1 503 /)
      expect(answer).toContain(BODIES_FULL)
      late.destroy()
    }
    expect(JSON.parse((await small()).body)).toMatchObject({ result: '0x134fe69' })
    expect(JSON.parse((await small({ origin: 'http://x' })).body)).toMatchObject({ result: '0x134fe69' })
    for (const socket of open.splice(0, 3)) socket.destroy()
    await new Promise(resolve => setTimeout(resolve, 50))
    const body = `${CALL}${' '.repeat(1_000_000)}`
    const answer = await exchange(rig.server.port, request('POST /', { 'content-type': 'application/json' }, body))
    expect(JSON.parse(answer.body)).toMatchObject({ result: '0x134fe69' })
  })

  it('closes a WebSocket that sends a large message, and serves the others', async () => {
    await fill()
    const [loud, quiet] = [1, 2].map(() => new WebSocket(`ws://127.0.0.1:${rig.server.port}/ws`)) as [
      WebSocket,
      WebSocket,
    ]
    await Promise.all([once(loud, 'open'), once(quiet, 'open')])
    const closed = once(loud, 'close')
    loud.on('error', () => undefined)
    loud.send(big)
    const [code, reason] = await closed
    expect([code, String(reason)]).toEqual([1013, BODIES_FULL])
    quiet.send(CALL)
    expect(String((await once(quiet, 'message'))[0])).toContain('0x134fe69')
    quiet.terminate()
  })
})
