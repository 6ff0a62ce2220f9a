import { createServer } from 'node:net'

/** Ports tried above the one in use. */
const TRIES = 100

/** Adds to an error of a port in use the next free one, which its text then names. */
export const nameFreePort = async (error: unknown): Promise<unknown> => {
  if (!(error instanceof Error)) return error
  const { code, address, port } = error as NodeJS.ErrnoException & { readonly address?: string; readonly port?: number }
  if (code !== 'EADDRINUSE' || port === undefined) return error
  for (let next = port + 1; next <= Math.min(port + TRIES, 65_535); next++)
    if (await isFree(next, address)) return Object.assign(error, { freePort: next })
  return error
}

const isFree = (port: number, host: string | undefined): Promise<boolean> =>
  new Promise(resolve => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ port, ...(host !== undefined && { host }) }, () => server.close(() => resolve(true)))
  })
