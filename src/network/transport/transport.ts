import { createServer, connect as openSocket, type Socket } from 'node:net'
import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import type { NodeAddress } from '../core/dial-scheduler.ts'
import { acceptChannel, type ChannelIdentity, openChannel, type SecureChannel } from './secure-channel.ts'

const GOODBYE_MS = 500

type DialTarget = Pick<NodeAddress, 'host' | 'port'> & { readonly localAddress?: string }

const ignore = () => {}

/** Waits for the channel of a socket, which is closed when there is none within `ms`. */
const secured = async (socket: Socket, opening: Promise<SecureChannel>, ms: number): Promise<SecureChannel> => {
  const timer = setTimeout(() => socket.destroy(), ms)
  try {
    const channel = await opening
    if (socket.destroyed) throw new Error('closed')
    return channel
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    clearTimeout(timer)
  }
}

/** Opens a connection; rejects after a timeout. */
export const dial = (target: DialTarget, identity: ChannelIdentity, signal: AbortSignal): Promise<SecureChannel> => {
  const socket = openSocket(target)
  socket.on('error', ignore)
  socket.setNoDelay(true)
  const stop = () => socket.destroy()
  signal.addEventListener('abort', stop)
  const dialed = secured(socket, openChannel(socket, identity), NETWORK_LIMITS.dialMs)
  return dialed.finally(() => signal.removeEventListener('abort', stop))
}

export interface Listener {
  readonly host: string
  readonly port: number
  close(): Promise<void>
}

interface ListenerEvents {
  /** Called for a new connection; undefined rejects it. The result is called at its end or after its handshake; until then `drop` closes it. */
  enter(address: string, drop: () => void): (() => void) | undefined
  /** Takes over the connection before it returns. */
  secured(channel: SecureChannel, leave: () => void): void
  readonly handshakeMs: number
}

/** Accepts connections. A flood is rejected before it costs a handshake. Throws the error of the system. */
export const listen = async (
  { host, port }: Pick<NodeAddress, 'host' | 'port'>,
  identity: ChannelIdentity,
  events: ListenerEvents,
): Promise<Listener> => {
  const accepted = new Set<Socket>()
  const server = createServer(socket => {
    const leave = events.enter(socket.remoteAddress ?? '', () => socket.destroy())
    if (leave === undefined) {
      socket.resetAndDestroy()
      return
    }
    accepted.add(socket)
    socket.on('error', ignore)
    socket.on('close', () => {
      accepted.delete(socket)
      leave()
    })
    secured(socket, acceptChannel(socket, identity), events.handshakeMs)
      .then(channel => events.secured(channel, leave))
      .catch(() => socket.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, exclusive: true }, resolve)
  })
  const address = server.address()
  return {
    host,
    port: typeof address === 'object' && address !== null ? address.port : port,
    close: () =>
      new Promise(resolve => {
        // Peers were told that the node stops; those that stay connected are closed.
        const timer = setTimeout(() => accepted.forEach(socket => void socket.destroy()), GOODBYE_MS)
        server.close(() => {
          clearTimeout(timer)
          resolve()
        })
      }),
  }
}
