import { connect, createServer, type Socket } from 'node:net'

/** A way to a database that can be closed: connections then hang, or are refused. */
interface DatabaseGate {
  /** URL of the same database through the gate. */
  urlOf(url: string): string
  /** Bytes no longer pass, in either direction, and new connections get no answer. */
  hang(): void
  /** Connections break, and new ones are broken off. */
  refuse(): void
  /** Connections that hung go on; new ones pass. */
  open(): void
  close(): Promise<void>
}

export const startDatabaseGate = async (port: number): Promise<DatabaseGate> => {
  let mode: 'open' | 'hang' | 'refuse' = 'open'
  const pairs = new Set<readonly [Socket, Socket]>()
  const server = createServer({ pauseOnConnect: true }, socket => {
    if (mode === 'refuse') {
      socket.destroy()
      return
    }
    const other = connect(port, '127.0.0.1')
    const pair = [socket, other] as const
    pairs.add(pair)
    const end = (): void => {
      pairs.delete(pair)
      socket.destroy()
      other.destroy()
    }
    for (const one of pair) one.on('error', end).on('close', end)
    socket.on('data', data => other.write(data))
    other.on('data', data => socket.write(data))
    if (mode === 'open') socket.resume()
    else other.pause()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port: own } = server.address() as { port: number }
  const breakAll = (): void => {
    for (const [socket, other] of pairs) {
      socket.destroy()
      other.destroy()
    }
  }
  return {
    urlOf: url => url.replace(`:${port}/`, `:${own}/`),
    hang() {
      mode = 'hang'
      for (const pair of pairs) for (const socket of pair) socket.pause()
    },
    refuse() {
      mode = 'refuse'
      breakAll()
    },
    open() {
      mode = 'open'
      for (const pair of pairs) for (const socket of pair) socket.resume()
    },
    async close() {
      breakAll()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
