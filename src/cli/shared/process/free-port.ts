import { createServer, type Server } from 'node:net'

export const LOOPBACK = '127.0.0.1'

/** Ports tried above the one in use. */
const TRIES = 100

/** Values of a command's options that name ports and hosts. */
export type ListenOptions = Readonly<Record<`--${string}`, string | number | undefined>>

/** Error of the system about an address to listen on. */
export interface ListenError extends NodeJS.ErrnoException {
  readonly address?: string
  readonly hostname?: string
  readonly port?: number
  /** Option that named the port or the host. */
  readonly option?: string
  /** Port to take instead. */
  readonly freePort?: number
}

/** Adds what an error of listening names: the option among `given` that has the port or host, and the next free port. */
export const nameListenOption = async (error: unknown, given: ListenOptions = {}): Promise<unknown> => {
  if (!(error instanceof Error)) return error
  const { code, syscall, address, hostname, port } = error as ListenError
  if (syscall !== 'listen' && syscall !== 'bind' && syscall !== 'getaddrinfo') return error
  const isHost = syscall === 'getaddrinfo' || code === 'EADDRNOTAVAIL'
  const value = isHost ? (hostname ?? address) : port
  const option = Object.keys(given).find(name => given[name as keyof ListenOptions] === value)
  Object.assign(error, { option: option ?? (isHost ? '--host' : '--port') })
  if (code !== 'EADDRINUSE' || port === undefined) return error
  for (let next = port + 1; next <= Math.min(port + TRIES, 65_535); next++)
    if (await isPortFree(next, address)) return Object.assign(error, { freePort: next })
  return error
}

export const isPortFree = (port: number, host: string | undefined): Promise<boolean> =>
  succeeds(assertPortFree(port, host))

/** Returns false where a promise is rejected. */
export const succeeds = (promise: Promise<unknown>): Promise<boolean> =>
  promise.then(
    () => true,
    () => false,
  )

/** Throws the system's error when nothing can listen there now. */
export const assertPortFree = async (port: number, host: string | undefined): Promise<void> => {
  const server = await holdPort(port, host)
  await new Promise<void>(resolve => server.close(() => resolve()))
}

/** Listens, without keeping the process running, and answers nobody. Throws the system's error. */
export const holdPort = (port: number, host: string | undefined): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer(socket => socket.destroy())
    server.once('error', reject)
    server.listen({ port, ...(host !== undefined && { host }) }, () => resolve(server.unref()))
  })
