import { connect, createServer, type Server, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { type Hello, helloCodec } from '../../../src/network/messages/control-messages.ts'
import { MESSAGES } from '../../../src/network/messages/messages.ts'
import { generateNodeKey } from '../../../src/network/transport/node-key.ts'
import { type Listener, listen } from '../../../src/network/transport/transport.ts'
import { DOMAIN } from '../../support/consensus/member.ts'
import { type NetNode, NetNodes, until } from '../../support/network/net-node.ts'

/** A line between two nodes, in the hands of somebody else: what arrives at it goes to a port of this somebody's choice. */
class Line {
  target = 0
  /** Changes the next bytes of the listening side. */
  damages = false
  readonly #sockets = new Set<Socket>()
  readonly #server: Server = createServer(socket => this.#forward(socket))

  async open(): Promise<number> {
    await new Promise<void>(resolve => this.#server.listen(0, '127.0.0.1', resolve))
    return (this.#server.address() as { port: number }).port
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
  }

  #forward(near: Socket): void {
    const far = connect(this.target, '127.0.0.1')
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(one)
      one.on('error', () => {})
      one.on('close', () => other.destroy())
      one.on('data', (bytes: Buffer) => {
        if (this.damages && one === far) {
          this.damages = false
          bytes[bytes.byteLength - 1] = (bytes[bytes.byteLength - 1] as number) ^ 1
        }
        other.write(bytes)
      })
    }
  }
}

const nodes = new NetNodes()
let line = new Line()
let listener: Listener | undefined
afterEach(async () => {
  line.close()
  line = new Line()
  await listener?.close()
  await nodes.stop()
})

const lost = ({ log }: NetNode) => log.lines.filter(({ message }) => message === 'peer disconnected').length

describe('somebody on the line between two members', () => {
  test('that changes bytes ends a connection, and neither of them bans the other or waits long', async () => {
    const first = await nodes.start({ member: 0, committee: 2, discovers: false })
    const port = await line.open()
    line.target = first.port
    const staticPeers = [{ id: first.id, host: '127.0.0.1', port }]
    const second = await nodes.start({ member: 1, committee: 2, staticPeers, discovers: false, listen: null })
    for (let count = 1; count <= 3; count++) {
      await until('connected', () => first.network.peerCount === 1 && second.network.peerCount === 1)
      line.damages = true
      await until('ended', () => lost(second) === count && lost(first) === count)
    }
    await until('connected again', () => first.network.peerCount === 1 && second.network.peerCount === 1)
    for (const { network } of nodes.nodes) expect(network.peers()[0]?.score).toBe(0)
  })
})

describe('a static peer whose address leads to another node for a while', () => {
  test.each(['itself', 'another one'])('to %s, is dialed again soon', async which => {
    const first = await nodes.start()
    const port = await line.open()
    const staticPeers = [{ id: first.id, host: '127.0.0.1', port }]
    const second = await nodes.start({ staticPeers, discovers: false })
    line.target = which === 'itself' ? second.port : (await nodes.start()).port
    await until('refused', () => second.log.reasons('peer refused').length > 1)
    line.target = first.port
    await until('connected', () => second.peerIds.includes(first.id))
  })

  test('does not tell that node which validator dials', async () => {
    const hellos: Hello[] = []
    const key = generateNodeKey()
    listener = await listen(
      { host: '127.0.0.1', port: 0 },
      { key, domain: DOMAIN },
      {
        enter: () => () => {},
        secured: ({ socket, records }, leave) => {
          leave()
          const take = (frame: Uint8Array) =>
            frame[5] === MESSAGES.hello.id && hellos.push(helloCodec.decode(frame.subarray(14)))
          socket.on('data', (bytes: Buffer) => records.push(bytes, 0, take))
        },
        handshakeMs: 5_000,
      },
    )
    const dialed = (id: string) => ({ id, host: '127.0.0.1', port: listener?.port ?? 0 })
    const options = { member: 0, committee: 1, listen: null, discovers: false }
    const node = await nodes.start({ ...options, staticPeers: [dialed(generateNodeKey().id)] })
    await until('a hello', () => hellos.length > 0)
    expect(hellos[0]?.proof).toBeNull()
    node.network.addPeer(dialed(key.id))
    await until('a proof', () => hellos.some(({ proof }) => proof !== null))
  })
})
