import { connect, type Socket } from 'node:net'
import { type Cancellation, Cancelled } from '@tandem/base/async/cancellation.ts'
import { afterEach, describe, expect, test } from 'vitest'
import WebSocket from 'ws'
import type { CallResult } from '../../../../src/evm/calls/types.ts'
import { eventually } from '../../../support/node-process.ts'
import { Rig } from '../../../support/rpc/rig.ts'
import { EchoCalls } from '../../../support/rpc/services.ts'

/** Calls that end only by being cancelled. */
class EndlessCalls extends EchoCalls {
  running = 0
  started = 0

  override async call(_request: unknown, _client?: string, cancellation?: Cancellation): Promise<CallResult> {
    this.running++
    this.started++
    return new Promise((_resolve, reject) => {
      cancellation?.onCancel(() => {
        this.running--
        reject(new Cancelled())
      })
    })
  }
}

let rig: Rig
let calls: EndlessCalls
const start = async (): Promise<void> => {
  calls = new EndlessCalls()
  rig = await Rig.start({ calls })
}
afterEach(() => rig.stop())

const TO = `0x${'11'.repeat(20)}`
const call = (id: number, data: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'eth_call', params: [{ to: TO, data }, 'latest'] })
/** Beyond what is not counted. */
const SINGLE = call(1, `0x${'00'.repeat(20_000)}`)
const BATCH = `[${Array.from({ length: 300 }, (_, id) => call(id, `0x${'00'.repeat(100)}`)).join(',')}]`

const post = (body: string, more = ''): string =>
  `POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n${more}content-length: ${body.length}\r\n\r\n${body}`

const dial = (bytes: string): Socket => {
  const socket = connect({ host: '127.0.0.1', port: rig.server.port })
  socket.on('error', () => {})
  socket.write(bytes)
  return socket
}

/** How a client sends a body and goes away. */
const WAYS: Readonly<Record<string, (body: string) => Promise<() => void>>> = {
  'a plain call': async body => {
    const socket = dial(post(body))
    return () => void socket.destroy()
  },
  'a plain call that breaks': async body => {
    const socket = dial(post(body))
    return () => void socket.resetAndDestroy()
  },
  'a call of the HTTP server': async body => {
    const socket = dial(post(body, 'connection: close\r\n'))
    return () => void socket.resetAndDestroy()
  },
  'a WebSocket': async body => {
    const socket = new WebSocket(`ws://127.0.0.1:${rig.server.port}/ws`)
    await new Promise(resolve => socket.once('open', resolve))
    socket.send(body)
    return () => socket.terminate()
  },
}

describe.each(Object.entries(WAYS))('the client of %s that is gone', (_, send) => {
  test.each([
    ['a call', SINGLE],
    ['a batch', BATCH],
  ])('ends %s and holds nothing', async (_what, body) => {
    await start()
    const leave = await send(body)
    await eventually('it runs', async () => (calls.running > 0 ? true : undefined))
    expect(rig.server.budgets.bodies.held).toBeGreaterThan(0)
    leave()
    await eventually('nothing runs', async () => (calls.running === 0 ? true : undefined))
    await eventually('nothing is held', async () => {
      const { bodies, answers, sockets, connections } = rig.server.budgets
      return [bodies, answers, sockets, connections].every(({ held }) => held === 0) ? true : undefined
    })
    expect(calls.started).toBeLessThanOrEqual(16)
  })
})

describe('the body of a request to a path that takes none', () => {
  test.each(['/nowhere', '/health'])('%s is let go with the answer, not with the connection', async path => {
    await start()
    const many = 20
    const body = call(1, `0x${'00'.repeat(100_000)}`)
    const socket = dial(post(body).replace('POST /', `POST ${path}`).repeat(many))
    let statuses = 0
    socket.on('data', chunk => {
      statuses += chunk.toString().match(/HTTP\/1.1 40[45]/g)?.length ?? 0
    })
    await eventually('all are answered', async () => (statuses === many ? true : undefined))
    await eventually('nothing is held', async () => (rig.server.budgets.bodies.held === 0 ? true : undefined))
    expect(rig.server.budgets.connections.held).toBe(1)
    socket.destroy()
  })
})
