import { connect, type Socket } from 'node:net'
import type { Hex } from '@tandem/base/bytes.ts'
import { count, type Scene } from './scene.ts'

/** Opens a connection that the end of the attack destroys. */
export const dial = (scene: Scene): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const { host, port } = scene.target
    const socket = connect({ host, port, localAddress: scene.from(), noDelay: true })
    const stop = () => socket.destroy()
    scene.signal.addEventListener('abort', stop, { once: true })
    socket.once('close', () => {
      scene.signal.removeEventListener('abort', stop)
      reject(new Error('closed'))
    })
    socket.on('error', reject)
    socket.once('connect', () => resolve(socket))
  })

export const ended = (socket: Socket): Promise<void> =>
  new Promise(resolve => {
    if (socket.closed) return resolve()
    socket.once('close', () => resolve())
  })

/** Resolves when the system has taken the bytes, or the connection is gone. */
export const pour = (socket: Socket, bytes: string | Uint8Array): Promise<void> =>
  new Promise(resolve => {
    if (socket.destroyed) return resolve()
    socket.write(bytes, () => resolve())
  })

/** As large as a body may be. */
export const MOST = 5 * 1024 * 1024

const JSON_HEAD = 'POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n'

/** A call as bytes, on a connection that stays open. */
export const post = (body: string | Uint8Array, fields = ''): Buffer => {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  return Buffer.concat([Buffer.from(`${JSON_HEAD}${fields}content-length: ${bytes.byteLength}\r\n\r\n`), bytes])
}

/** Response to a request: status, number of bytes, and the beginning of the text. */
interface Answer {
  readonly status: number
  readonly bytes: number
  readonly begin: string
}

const KEPT = 400

/** Sends bytes on a connection of their own and reads all that comes, keeping little; it ends with the connection or after `quietMs`. */
export const exchange = async (scene: Scene, bytes: string | Uint8Array, quietMs = 20_000): Promise<Answer> => {
  const socket = await dial(scene)
  let received = 0
  let begin = ''
  socket.on('data', (chunk: Buffer) => {
    if (begin.length < KEPT) begin += chunk.toString('latin1', 0, KEPT)
    received += chunk.byteLength
  })
  socket.setTimeout(quietMs, () => socket.destroy())
  void pour(socket, bytes)
  await ended(socket)
  return { status: Number(begin.slice(9, 12)), bytes: received, begin }
}

/** Asks and counts the kind of answer. */
export const ask = async (scene: Scene, body: string | Uint8Array, fields = ''): Promise<Answer> => {
  const answer = await exchange(scene, post(body, `connection: close\r\n${fields}`))
  const text = answer.begin.slice(answer.begin.indexOf('\r\n\r\n') + 4)
  const [, code] = /"error":\{"code":(-?\d+)/.exec(text) ?? []
  count(scene, answer.status === 200 ? (code === undefined ? 'answered' : `error ${code}`) : `status ${answer.status}`)
  return answer
}

export const call = (method: string, params: unknown, id: unknown = 1): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params })

export const batchOf = (howMany: number, one: (index: number) => string): string =>
  `[${Array.from({ length: howMany }, (_, index) => one(index)).join(',')}]`

let made = 0

/** Bytes that nothing on the chain has, other ones each time. */
export const bytesOf = (length: number): Hex => `0x${(++made).toString(16).padStart(2 * length, '9')}`

/** Criteria as large as they may be: a thousand addresses and four thousand topics, of which none is anywhere. */
export const wideCriteria = (addresses = 1_000, topics = 1_000) => ({
  fromBlock: '0x0',
  toBlock: 'latest',
  address: Array.from({ length: addresses }, () => bytesOf(20)),
  topics: Array.from({ length: 4 }, () => Array.from({ length: topics }, () => bytesOf(32))),
})
