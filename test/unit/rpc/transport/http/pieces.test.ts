import { afterEach, beforeEach, expect, test } from 'vitest'
import { eventually } from '../../../../support/node-process.ts'
import { dial } from '../../../../support/raw-http.ts'
import { Rig } from '../../../../support/rpc/rig.ts'

const PIECES = '1\r\na\r\n'.repeat(20_000)
const MIB = 1024 * 1024

let rig: Rig
let taken: number
beforeEach(async () => {
  taken = 0
  rig = await Rig.start({
    hosts: ['example.org'],
    routes(app) {
      void app.register(async scope => {
        scope.removeAllContentTypeParsers()
        scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
        scope.post('/reads', { bodyLimit: 8 * MIB }, ({ body }) => {
          taken = (body as Buffer).byteLength
          return 'read'
        })
      })
    },
  })
})
afterEach(() => rig.stop())

const post = (path: string, type = 'application/json', host = '127.0.0.1'): string =>
  `POST ${path} HTTP/1.1\r\nhost: ${host}\r\ncontent-type: ${type}\r\ntransfer-encoding: chunked\r\n\r\n`

test.each([
  ['that a route reads', post('/reads')],
  ['to no route', post('/none')],
  ['of a refused type', post('/', 'text/plain')],
  ['to a refused host', post('/', undefined, 'attacker.example')],
  ['of a GET', post('/').replace('POST', 'GET')],
])('a body %s ends its connection when it comes in too many pieces', async (_what, head) => {
  const socket = await dial(rig.server.port)
  socket.resume().write(head)
  socket.write(PIECES)
  await eventually('it is closed', async () => socket.destroyed || undefined)
})

test('a body in pieces of a usual size is read by its route, and its connection stays', async () => {
  const socket = await dial(rig.server.port)
  const texts: string[] = []
  socket.setEncoding('latin1').on('data', (text: string) => texts.push(text))
  for (const path of ['/reads', '/none', '/reads']) {
    taken = 0
    texts.length = 0
    socket.write(post(path))
    for (let i = 0; i < 2_000; i++) socket.write(`400\r\n${'a'.repeat(1024)}\r\n`)
    socket.write('0\r\n\r\n')
    await eventually(
      'it is answered',
      async () => texts.join('').includes(path === '/none' ? 'not found' : 'read') || undefined,
    )
    if (path !== '/none') expect(taken).toBe(2_000 * 1024)
  }
  expect(socket.destroyed).toBe(false)
  socket.destroy()
})
