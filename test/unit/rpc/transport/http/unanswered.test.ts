import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { eventually } from '../../../../support/node-process.ts'
import { dial } from '../../../../support/raw-http.ts'
import { Rig } from '../../../../support/rpc/rig.ts'

const CLIENT = '127.0.0.2'
const GET = 'GET /slow HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n'
const SENT = 1_000

let rig: Rig
afterEach(() => rig.stop())

test.each([false, true])(
  'requests sent ahead are parsed as earlier ones are answered, and count until then (HTTP server alone: %s)',
  async compression => {
    const waiting: (() => void)[] = []
    let begun = 0
    rig = await Rig.start({
      compression,
      routes(app) {
        app.get('/slow', () => {
          begun++
          return new Promise(resolve => waiting.push(() => resolve('')))
        })
      },
    })
    const held = () => rig.server.budgets.bodies.heldBy(CLIENT)
    const socket = await dial(rig.server.port, CLIENT)
    socket.resume().write(GET.repeat(SENT))
    await eventually('requests begin', async () => begun >= 16 || undefined)
    for (let i = 0; i < 200; i++) await turn()
    expect(begun).toBeLessThan(64)
    // Each of them, and the bytes of the others.
    expect(held()).toBeGreaterThan((begun - 1) * 4_096 + (SENT - begun - 64) * GET.length)
    await eventually(
      'all are begun',
      async () => {
        for (const answer of waiting.splice(0)) answer()
        return begun === SENT || undefined
      },
      { everyMs: 1 },
    )
    for (const answer of waiting.splice(0)) answer()
    await eventually('nothing is held', async () => held() === 0 || undefined)
    socket.destroy()
  },
)
