import { createServer, type Server, type Socket } from 'node:net'
import tls, { type SecureContextOptions, type TLSSocket } from 'node:tls'
import { NETWORK_LIMITS } from '../../config/limits/network.ts'
import { CodedError } from '../../util/errors.ts'
import type { NodeAddress } from '../core/dial-scheduler.ts'
import type { NetworkError } from '../errors.ts'
import { ALPN } from '../messages.ts'
import { certificatePem, nodeIdOf } from './certificate.ts'
import type { NodeKey } from './node-key.ts'

/** Connection whose other end proved a node key; no message has been sent yet. */
export interface SecureChannel {
  readonly socket: TLSSocket
  readonly nodeId: string
  /** 32 bytes that only the two ends can derive (RFC 8446 7.5). */
  readonly binding: Uint8Array
}

const BINDING_LABEL = 'EXPORTER-tandem-channel'
const BINDING_BYTES = 32
const GOODBYE_MS = 500

/**
 * Mutual TLS 1.3 without certificate authorities: the key of the certificate identifies the node, and the handshake of the protocol
 * decides whether it is the expected one.
 */
export const secureOptions = (key: NodeKey): SecureContextOptions & tls.CommonConnectionOptions => ({
  key: key.privateKey.export({ type: 'pkcs8', format: 'pem' }),
  cert: certificatePem(key),
  minVersion: 'TLSv1.3',
  maxVersion: 'TLSv1.3',
  ALPNProtocols: [ALPN],
  // Valid certificates have no other type of key, and some types are expensive to verify.
  sigalgs: 'ed25519',
  rejectUnauthorized: false,
})

/** Returns undefined for another protocol, or without an Ed25519 certificate. */
export const secureChannelFromSocket = (socket: TLSSocket): SecureChannel | undefined => {
  const certificate = socket.getPeerX509Certificate()
  if (certificate === undefined || socket.alpnProtocol !== ALPN) return undefined
  const nodeId = nodeIdOf(certificate)
  if (nodeId === undefined) return undefined
  const binding = socket.exportKeyingMaterial(BINDING_BYTES, BINDING_LABEL, Buffer.alloc(0))
  return { socket, nodeId, binding: new Uint8Array(binding) }
}

/** Opens a connection; rejects after a timeout. */
export const dial = (
  { host, port }: Pick<NodeAddress, 'host' | 'port'>,
  options: tls.CommonConnectionOptions,
  signal: AbortSignal,
): Promise<TLSSocket> =>
  new Promise((resolve, reject) => {
    const socket = tls.connect({ ...options, host, port })
    const fail = (error: Error) => {
      socket.destroy()
      reject(error)
    }
    const give = () => fail(new Error('stopped'))
    const timer = setTimeout(() => fail(new Error('no answer in time')), NETWORK_LIMITS.dialMs)
    const settle = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', give)
    }
    signal.addEventListener('abort', give)
    socket.once('error', fail)
    socket.once('close', () => {
      settle()
      reject(new Error('the other side closed the connection'))
    })
    socket.once('secureConnect', () => {
      settle()
      socket.off('error', fail)
      // Between here and the first listener of the connection is one event-loop turn, in which nothing may throw.
      socket.on('error', ignore)
      resolve(socket)
    })
  })

const ignore = () => {}

export interface Listener {
  readonly host: string
  readonly port: number
  close(): Promise<void>
}

interface ListenerEvents {
  /**
   * Called for a new connection before anything is read; undefined rejects it. The result is called when the connection is closed or
   * its handshake is over; until then `drop` closes it.
   */
  enter(address: string, drop: () => void): (() => void) | undefined
  secured(socket: TLSSocket, leave: () => void): void
  readonly handshakeMs: number
}

/**
 * Accepts connections. The plain socket is checked first, so that a flood is rejected before it costs a TLS handshake. Throws
 * LISTEN_FAILED.
 */
export const listen = async (
  { host, port }: Pick<NodeAddress, 'host' | 'port'>,
  options: tls.TlsOptions,
  events: ListenerEvents,
): Promise<Listener> => {
  const accepted = new Map<string, { readonly socket: Socket; readonly leave: () => void }>()
  const secure = tls.createServer({ ...options, requestCert: true, handshakeTimeout: events.handshakeMs })
  secure.on('secureConnection', socket => {
    socket.on('error', ignore)
    events.secured(socket, accepted.get(nameOf(socket))?.leave ?? ignore)
  })
  secure.on('tlsClientError', (_, socket) => socket.destroy())
  const plain: Server = createServer(socket => {
    const leave = events.enter(socket.remoteAddress ?? '', () => socket.destroy())
    if (leave === undefined) {
      socket.resetAndDestroy()
      return
    }
    const name = nameOf(socket)
    accepted.set(name, { socket, leave })
    socket.on('close', () => {
      accepted.delete(name)
      leave()
    })
    socket.on('error', ignore)
    secure.emit('connection', socket)
  })
  await new Promise<void>((resolve, reject) => {
    plain.once('error', error => reject(listenError(host, port, error)))
    plain.listen({ host, port, exclusive: true }, resolve)
  })
  const address = plain.address()
  return {
    host,
    port: typeof address === 'object' && address !== null ? address.port : port,
    close: () =>
      new Promise(resolve => {
        // Peers were told that the node stops; those that stay connected are closed.
        const timer = setTimeout(() => accepted.forEach(({ socket }) => void socket.destroy()), GOODBYE_MS)
        plain.close(() => {
          clearTimeout(timer)
          resolve()
        })
      }),
  }
}

const nameOf = ({ remoteAddress, remotePort }: Pick<Socket, 'remoteAddress' | 'remotePort'>): string =>
  `${remoteAddress} ${remotePort}`

const listenError = (host: string, port: number, error: Error): Error =>
  new CodedError<NetworkError>({ code: 'LISTEN_FAILED', host, port, reason: error.message }, { cause: error })
