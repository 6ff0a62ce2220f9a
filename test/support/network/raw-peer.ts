import type { Socket } from 'node:net'
import { EMPTY_BYTES } from '@tandem/base/bytes.ts'
import { NETWORKS } from '../../../src/config/networks.ts'
import { createForkFilter } from '../../../src/network/identity/fork-id.ts'
import { proveValidator } from '../../../src/network/identity/validator-proof.ts'
import type { ChainDomain, Hello } from '../../../src/network/messages/control-messages.ts'
import {
  MESSAGES,
  type MessageName,
  messageFromId,
  messageSpec,
  NETWORK_PROTOCOL_VERSION,
  type Payload,
} from '../../../src/network/messages/messages.ts'
import { generateNodeKey, type NodeKey } from '../../../src/network/transport/node-key.ts'
import type { SecureChannel } from '../../../src/network/transport/secure-channel.ts'
import { dial } from '../../../src/network/transport/transport.ts'
import { FrameReader } from '../../../src/network/wire/frame-reader.ts'
import { encodeFrames } from '../../../src/network/wire/frames.ts'
import type { ValidatorSigner } from '../../../src/primitives/consensus/vote.ts'
import { DOMAIN } from '../consensus/member.ts'
import { framesOf } from './frames.ts'
import { until } from './net-node.ts'

export interface Said {
  readonly name: MessageName
  readonly value: unknown
  readonly requestId: number
}

interface RawPeerOptions {
  readonly key?: NodeKey
  /** The chain of the node it talks to. */
  readonly domain?: ChainDomain
  /** Source address: any of 127.0.0.0/8. */
  readonly from?: string
  /** false: no answers are kept, as a flood wants it. */
  readonly keeps?: boolean
}

/** A peer that says what a test tells it, word for word, and keeps what it hears. */
export class RawPeer {
  readonly key: NodeKey
  readonly #domain: ChainDomain
  readonly secureChannel: SecureChannel
  readonly heard: Said[] = []
  isClosed = false

  private constructor(key: NodeKey, secureChannel: SecureChannel, { domain = DOMAIN, keeps = true }: RawPeerOptions) {
    this.key = key
    this.secureChannel = secureChannel
    this.#domain = domain
    const reader = new FrameReader({
      begin: () => 'take',
      abandon: () => {},
      deliver: (_, { id, requestId }, payload) => {
        const name = messageFromId(id) as MessageName
        if (!keeps && !KEPT.has(name)) return
        this.heard.push({ name, value: messageSpec(name).codec.decode(payload), requestId })
      },
    })
    this.socket.on('data', (bytes: Buffer) => secureChannel.records.push(bytes, 0, frame => reader.push(frame, 0)))
    this.socket.on('close', () => {
      this.isClosed = true
    })
  }

  get socket(): Socket {
    return this.secureChannel.socket
  }

  static async connect(port: number, options: RawPeerOptions = {}): Promise<RawPeer> {
    const { key = generateNodeKey(), from, domain = DOMAIN } = options
    const target = { host: '127.0.0.1', port, ...(from !== undefined && { localAddress: from }) }
    return new RawPeer(key, await dial(target, { key, domain }, new AbortController().signal), options)
  }

  /** The whole handshake; rejects when it is refused. */
  static async meet(
    port: number,
    hello: Partial<Hello> = {},
    signer: ValidatorSigner | null = null,
    options: RawPeerOptions = {},
  ): Promise<RawPeer> {
    const peer = await RawPeer.connect(port, options)
    peer.send('hello', peer.hello({ proof: signer && peer.prove(signer), ...hello }))
    peer.send('ready', null)
    await until('ready', () => peer.said('ready').length > 0 || peer.isClosed)
    if (peer.isClosed) throw new Error(`refused: ${peer.reason}`)
    return peer
  }

  /** A hello that is accepted, but for what is given. */
  hello(parts: Partial<Hello> = {}): Hello {
    const fork = createForkFilter(this.#domain.genesisHash, NETWORKS.devnet.forks).at(0)
    return {
      version: NETWORK_PROTOCOL_VERSION,
      ...this.#domain,
      forkHash: fork.hash,
      forkNext: fork.next,
      nodeId: this.key.id,
      instance: '0x0102030405060708',
      client: 'raw',
      head: { number: 0, hash: this.#domain.genesisHash },
      earliest: 0,
      record: EMPTY_BYTES,
      proof: null,
      ...parts,
    }
  }

  prove(signer: ValidatorSigner) {
    return proveValidator(signer, this.#domain, this.key.id, this.secureChannel.binding)
  }

  send<Name extends MessageName>(name: Name, value: Payload<Name>, requestId = 0): void {
    this.write(wire(name, value, requestId))
  }

  /** Sends frames, each in a record of its own; what is no whole frame goes as it is. */
  write(bytes: Uint8Array): void {
    for (const frame of framesOf(bytes))
      if (!this.socket.destroyed) this.socket.write(this.secureChannel.records.seal(frame))
  }

  /** Returns and removes the received messages of this kind. */
  take(name: MessageName): readonly Said[] {
    const said = this.said(name)
    for (const one of said) this.heard.splice(this.heard.indexOf(one), 1)
    return said
  }

  said(name: MessageName): readonly Said[] {
    return this.heard.filter(said => said.name === name)
  }

  /** Why the other side closed. */
  get reason(): unknown {
    return this.said('disconnect')[0]?.value
  }

  async closed(): Promise<unknown> {
    await until('closed', () => this.isClosed)
    return this.reason
  }

  close(): void {
    this.socket.destroy()
  }
}

const KEPT: ReadonlySet<MessageName> = new Set(['hello', 'ready', 'disconnect', 'getBlocks', 'getRecords'])

/** A message on the wire. */
export const wire = <Name extends MessageName>(name: Name, value: Payload<Name>, requestId = 0): Uint8Array => {
  const { channel, id } = MESSAGES[name]
  return encodeFrames(channel, id, requestId, messageSpec(name).codec.encode(value)).bytes
}
