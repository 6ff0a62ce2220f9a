import { describe, expect, test } from 'vitest'
import { RPC_LIMITS } from '../../../../../src/config/limits/clients.ts'
import { HttpWire, postText } from '../../../../support/http-wire.ts'
import { Rig } from '../../../../support/rpc/rig.ts'

const CALL = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}'
const { httpHeadersMs, httpCheckMs } = RPC_LIMITS

const open = async () => {
  const rig = await Rig.start()
  return { rig, wire: await HttpWire.open(rig.server.port) }
}

describe.concurrent('a connection that keeps the server waiting', () => {
  test.for<readonly [string, string]>([
    ['nothing', ''],
    ['half a head', 'POST / HTTP/1.1\r\nhost:'],
  ])('ends: it sends %s', { timeout: 40_000 }, async ([, text], { onTestFinished }) => {
    const { rig, wire } = await open()
    onTestFinished(() => rig.stop())
    const startedMs = performance.now()
    if (text !== '') await wire.send(text)
    await wire.closed(httpHeadersMs + 2 * httpCheckMs + 10_000)
    expect(performance.now() - startedMs).toBeGreaterThan(httpHeadersMs - 1_000)
    expect(wire.responses.map(({ status }) => status)).toEqual([408])
    expect(rig.server.budgets.connections.held).toBe(0)
  })

  test('ends when its second head does not come, and its first request is answered', {
    timeout: 40_000,
  }, async ({ onTestFinished }) => {
    const { rig, wire } = await open()
    onTestFinished(() => rig.stop())
    await wire.send(`${postText(CALL)}POST / HT`)
    await wire.closed(httpHeadersMs + 2 * httpCheckMs + 10_000)
    expect(wire.responses.map(({ status }) => status)).toEqual([200, 408])
  })
})
