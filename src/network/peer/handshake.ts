import { CodedError } from '@tandem/base/errors.ts'
import type { DisconnectReason } from '../core/disconnect-reasons.ts'
import type { ProtocolError } from '../core/errors.ts'
import type { HelloRefusal } from '../identity/identity.ts'
import { type Hello, helloVersion } from '../messages/control-messages.ts'
import {
  MESSAGES,
  type MessageName,
  messageFromId,
  messageSpec,
  NETWORK_PROTOCOL_VERSION,
  type Payload,
} from '../messages/messages.ts'
import type { SecureChannel } from '../transport/secure-channel.ts'
import type { ChannelName } from '../wire/channels.ts'
import { encodeFrames, type MessageHead } from '../wire/frames.ts'
import { isMalformed } from './boundary.ts'
import { Connection, type ConnectionEnd, type ConnectionEvents, type ConnectionTimeouts } from './connection.ts'

export interface HandshakeParams {
  readonly secureChannel: SecureChannel
  readonly hello: Hello
  readonly patience: ConnectionTimeouts & { readonly handshakeMs: number }
  /** Validates the other side's hello; a refusal ends the connection with its reason. Called at most once. */
  validate(hello: Hello): HelloRefusal | undefined
  /** Peer records: a newcomer that finds no place gets some all the same, to look elsewhere. None are taken from one that dialed. */
  readonly isDialed: boolean
  readonly records: {
    forRefused(hello: Hello): readonly Uint8Array[]
    heard(remoteAddress: string, records: readonly Uint8Array[]): void
  }
  /** Both sides agreed. Must take over the connection before it returns. */
  ready(connection: Connection, hello: Hello): void
  /** The handshake failed. Either this or `ready` is called, once. */
  failed(connectionEnd: ConnectionEnd, hello: Hello | null): void
  /** Fault of this node caused by the other side's bytes. */
  faulted(error: unknown): void
}

const broken = (reason: string) => new CodedError<ProtocolError>({ code: 'PROTOCOL_BROKEN', reason })

/** Both sides send hello at once, then `ready`, or a refusal in its place; who sent and received both is connected. */
export const performHandshake = (params: HandshakeParams): Connection => {
  const { secureChannel, hello, patience, isDialed, validate, records, ready, failed, faulted } = params
  let remote: Hello | null = null
  let takesRecords = isDialed
  const send = <Name extends MessageName>(name: Name, value: Payload<Name>) => {
    const spec = messageSpec(name)
    connection.send(encodeFrames(spec.channel, spec.id, 0, spec.codec.encode(value)))
  }
  const events: ConnectionEvents = {
    begin: (frameChannel, head) => {
      checkHead(frameChannel, head, remote === null ? ['hello'] : takesRecords ? ['ready', 'records'] : ['ready'])
      return 'take'
    },
    deliver: (_, { id }, payload) => {
      if (id === MESSAGES.disconnect.id) connection.endedBy(MESSAGES.disconnect.codec.decode(payload))
      else if (id === MESSAGES.hello.id) {
        const version = helloVersion(payload)
        if (version !== NETWORK_PROTOCOL_VERSION) {
          connection.close('wrongVersion', `got ${version}, want ${NETWORK_PROTOCOL_VERSION}`)
          return
        }
        remote = MESSAGES.hello.codec.decode(payload)
        const helloRefusal = validate(remote)
        if (helloRefusal === undefined) {
          send('ready', null)
          return
        }
        if (LACKS_PLACE.includes(helloRefusal.reason)) send('records', records.forRefused(remote))
        connection.close(helloRefusal.reason, helloRefusal.detail)
      } else if (id === MESSAGES.records.id) {
        takesRecords = false
        records.heard(secureChannel.socket.remoteAddress ?? '', MESSAGES.records.codec.decode(payload))
      } else {
        MESSAGES.ready.codec.decode(payload)
        clearTimeout(timer)
        ready(connection, remote as Hello)
      }
    },
    abandon: () => {},
    dropped: () => {},
    failed: error => {
      if (isMalformed(error)) return connection.close('malformed', error.message)
      faulted(error)
      connection.close('misbehaved', 'a fault of this node')
    },
    ended: connectionEnd => {
      clearTimeout(timer)
      failed(connectionEnd, remote)
    },
  }
  const connection = new Connection(secureChannel, patience, events)
  const timer = setTimeout(() => connection.close('timeout', 'no handshake in time'), patience.handshakeMs)
  send('hello', hello)
  return connection
}

const LACKS_PLACE: readonly DisconnectReason[] = ['tooManyPeers', 'tooManyFromAddress']

const checkHead = (
  channel: ChannelName,
  { id, requestId, length }: MessageHead,
  wanted: readonly MessageName[],
): void => {
  const name = messageFromId(id)
  if (name === undefined || !(wanted.includes(name) || name === 'disconnect'))
    throw broken(`${name ?? `message ${id}`} instead of ${wanted[0]}`)
  const spec = messageSpec(name)
  if (channel !== spec.channel || requestId !== 0) throw broken(`${name} on another channel or as a response`)
  if (length > spec.maxBytes) throw broken(`${name} of ${length} bytes, at most ${spec.maxBytes}`)
}
