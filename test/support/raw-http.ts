import { connect, type Socket } from 'node:net'

interface RawAnswer {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

/** Opens a connection, or fails; `from` is another address of the loopback, for a client of its own. */
export const dial = (port: number, from?: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, ...(from && { localAddress: from }) }, () => {
      socket.off('error', reject)
      // The node may close the connection at any moment after malformed input.
      socket.on('error', () => socket.destroy())
      resolve(socket)
    })
    socket.once('error', reject)
  })

/** Everything that comes until the other side closes, or until nothing came for `quietMs`. */
export const readAll = (socket: Socket, quietMs = 10_000): Promise<string> =>
  new Promise(resolve => {
    let text = ''
    const finish = () => resolve(text)
    socket.setEncoding('latin1')
    socket.on('data', chunk => {
      text += chunk
    })
    socket.once('close', finish)
    socket.setTimeout(quietMs, () => {
      socket.destroy()
    })
  })

/** Sends these bytes as they are on a connection of their own; add `connection: close` so that the answer ends. */
export const exchange = async (port: number, bytes: string | Uint8Array, from?: string): Promise<RawAnswer> => {
  const socket = await dial(port, from)
  const answered = readAll(socket)
  socket.write(bytes)
  return parse(await answered)
}

const parse = (text: string): RawAnswer => {
  const end = text.indexOf('\r\n\r\n')
  const [statusLine = '', ...fields] = text.slice(0, end === -1 ? text.length : end).split('\r\n')
  const headers = new Map(
    fields.map(field => {
      const colon = field.indexOf(':')
      return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()] as const
    }),
  )
  return { status: Number(statusLine.split(' ')[1] ?? 0), headers, body: end === -1 ? '' : text.slice(end + 4) }
}

/** A request as text; `host`, length and `connection: close` are added unless given. */
export const request = (line: string, fields: Readonly<Record<string, string>> = {}, body = ''): string => {
  const length = Buffer.byteLength(body)
  const all: Record<string, string> = {
    host: '127.0.0.1',
    connection: 'close',
    ...(body !== '' && { 'content-length': String(length) }),
    ...fields,
  }
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return `${line} HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n${body}`
}
