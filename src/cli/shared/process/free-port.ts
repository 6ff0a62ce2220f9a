import { createServer, type Server } from 'node:net'

export const LOOPBACK = '127.0.0.1'

/** Ports tried above the one in use. */
const TRIES = 100

/** Adds to an error of a port in use the next free one, which its text then names. */
export const nameFreePort = async (error: unknown): Promise<unknown> => {
  if (!(error instanceof Error)) return error
  const { code, address, port } = error as NodeJS.ErrnoException & { readonly address?: string; readonly port?: number }
  if (code !== 'EADDRINUSE' || port === undefined) return error
  for (let next = port + 1; next <= Math.min(port + TRIES, 65_535); next++)
    if (await isPortFree(next, address)) return Object.assign(error, { freePort: next })
  return error
}

export const isPortFree = (port: number, host: string | undefined): Promise<boolean> =>
  assertPortFree(port, host).then(
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
