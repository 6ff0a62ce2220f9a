import { expect, onTestFinished, test, vi } from 'vitest'
import { DEV_LIMITS } from '../../../../../src/config/limits/chain.ts'
import { RPC_LIMITS } from '../../../../../src/config/limits/clients.ts'
import type { DevPort } from '../../../../../src/rpc/ports.ts'
import { HttpWire, postText } from '../../../../support/http-wire.ts'
import { eventually } from '../../../../support/node-process.ts'
import { Rig } from '../../../../support/rpc/rig.ts'
import { EchoCalls } from '../../../../support/rpc/services.ts'

const TO = `0x${'57'.repeat(20)}`
const CALL = `{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{"to":"${TO}"},"latest"]}`

test.each([
  ['an operator or a visitor', {}, RPC_LIMITS.httpRequestMs, '30'],
  ['a suite that asks a development chain for 100,000 blocks', { dev: {} as DevPort }, DEV_LIMITS.responseMs, '300'],
] as const)(
  'a call without a result ends with 503 and the time it had: of %s',
  async (_, services, limitMs, seconds) => {
    const calls = new EchoCalls()
    const result = Promise.withResolvers<never>()
    vi.spyOn(calls, 'call').mockReturnValue(result.promise)
    const timers = vi.spyOn(globalThis, 'setTimeout')
    const rig = await Rig.start({ calls, ...services })
    onTestFinished(async () => {
      vi.restoreAllMocks()
      await rig.stop()
    })
    const wire = await HttpWire.open(rig.server.port)
    wire.socket.write(postText(CALL))
    const timeIsOver = await eventually(
      'the timer',
      async () => timers.mock.calls.find(([, ms]) => ms === limitMs)?.[0],
    )
    timeIsOver()
    const [response] = await wire.until(1)
    expect([response?.status, response?.body]).toEqual([503, `no result within ${seconds} s\n`])
    await wire.closed()
    result.reject(new Error('the work has ended'))
  },
)
