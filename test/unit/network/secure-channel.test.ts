import {
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  randomBytes,
  sign,
  verify,
} from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { bytesToHex, concatBytes, hexToBytes } from '@tandem/base/bytes.ts'
import { afterEach, describe, expect, test } from 'vitest'
import { generateNodeKey, type NodeKey, publicKeyBytes } from '../../../src/network/transport/node-key.ts'
import { createEphemeral, deriveSession, type Ephemeral, nextKey } from '../../../src/network/transport/noise.ts'
import { Records } from '../../../src/network/transport/secure-channel.ts'
import { DOMAIN } from '../../support/consensus/member.ts'
import { NetNodes, until } from '../../support/network/net-node.ts'
import { RawPeer } from '../../support/network/raw-peer.ts'

const nodes = new NetNodes()
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await nodes.stop()
})

const MESSAGE = Buffer.alloc(64)
const PROLOGUE = Buffer.from('tandem/4')
const PKCS8 = Buffer.from('302e020100300506032b656e04220420', 'hex')
const ephemeralOf = (fill: number): Ephemeral => {
  const privateKey = createPrivateKey({
    key: Buffer.concat([PKCS8, Buffer.alloc(32, fill)]),
    format: 'der',
    type: 'pkcs8',
  })
  return { privateKey, publicKey: publicKeyBytes(createPublicKey(privateKey)) }
}

describe('the handshake of Noise', () => {
  test('has the keys and the hash that another implementation has (npm: @likecoin/noise-js 1.0.0)', () => {
    const [initiator, responder] = [ephemeralOf(1), ephemeralOf(2)]
    const { publicKey: other } = responder
    const session = deriveSession({ prologue: PROLOGUE, own: initiator, other, isInitiator: true })
    expect(bytesToHex(session.tag)).toBe('0xa615f1a4160f5f5179e5d868b0566e38')
    expect(bytesToHex(session.hash)).toBe('0xca803e538e6d48bf8c09aa7fc2b43ebce6db564a8d3bec6a2de2ae669d3b57fb')
    expect(bytesToHex(session.initiatorKey)).toBe('0x6f7a1eb6be3c60dddd5c1a282f37d06a55ab9371dc8349cab19159be40c2717f')
    expect(bytesToHex(session.responderKey)).toBe('0x3d67efc9570486f0a3f8d6cffaa62a82f9bb899c93d70406c8c76681ca1c5df6')
    expect(bytesToHex(nextKey(session.initiatorKey))).toBe(
      '0x53004f38c28a4f280da9d0dd96aff2db444e418187a91abf35db04d27f93e81b',
    )
    const records = new Records(session.initiatorKey, session.responderKey)
    const [hello, again] = [Buffer.from('hello'), Buffer.from('again')].map(bytes => records.seal(bytes).slice(4))
    expect(bytesToHex(hello as Uint8Array)).toBe('0x70ecfe1b0fe94f61c6377d21eb51621c1b575ded75')
    expect(bytesToHex(again as Uint8Array)).toBe('0xbf39f5465d92837ed19e6c5bafe83ca7eef6196751')
    const same = deriveSession({ prologue: PROLOGUE, own: responder, other: initiator.publicKey, isInitiator: false })
    expect(same).toEqual(session)
  })

  test('refuses a key of small order', () => {
    for (const other of [new Uint8Array(32), new Uint8Array(32).fill(1, 0, 1)])
      expect(() => deriveSession({ prologue: PROLOGUE, own: createEphemeral(), other, isInitiator: true })).toThrow()
  })
})

/** The dialing side, word for word. */
class Stranger {
  readonly socket: Socket
  readonly own = createEphemeral()
  readonly key: NodeKey = generateNodeKey()
  received = Buffer.alloc(0)

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1')
    this.socket.on('error', () => {})
    this.socket.on('data', (bytes: Buffer) => {
      this.received = Buffer.concat([this.received, bytes])
    })
    sockets.push(this.socket)
  }

  async session() {
    this.socket.write(this.own.publicKey)
    await until('a response', () => this.received.byteLength >= 204)
    const other = this.received.subarray(0, 32)
    return deriveSession({ prologue: PROLOGUE, own: this.own, other, isInitiator: true })
  }

  /** Says that it is the key's node, by a signature over these bytes. */
  async say(statementOf: (hash: Uint8Array) => Uint8Array, { publicKey }: Pick<NodeKey, 'publicKey'> = this.key) {
    const session = await this.session()
    const signed = concatBytes(publicKey, CHAIN)
    const signature = sign(null, concatBytes(statementOf(session.hash), signed), this.key.privateKey)
    const records = new Records(session.initiatorKey, session.responderKey)
    this.socket.write(records.seal(concatBytes(signed, signature)))
  }

  closed(): Promise<void> {
    return until('closed', () => this.socket.destroyed)
  }
}

const CHAIN = Buffer.alloc(40)
CHAIN.writeUInt32BE(DOMAIN.chainId, 4)
CHAIN.set(hexToBytes(DOMAIN.genesisHash), 8)
const statement = (role: string, hash: Uint8Array) => concatBytes(Buffer.from(`tandem-identity/1 ${role} `), hash)

describe('a stranger', () => {
  test.each<[string, (stranger: Stranger) => unknown]>([
    ['that speaks HTTP', ({ socket }) => socket.write('GET / HTTP/1.1\r\nHost: example\r\n\r\n')],
    // The size of the chain of 77 certificates that stopped a node of TLS for 0.42 s.
    ['with a hundred kilobytes', ({ socket }) => socket.write(randomBytes(100_000))],
    ['with a key of small order', ({ socket }) => socket.write(Buffer.alloc(32))],
    ['with one byte more than a key', ({ socket, own }) => socket.write(concatBytes(own.publicKey, Buffer.of(0)))],
    ['that signs another connection', stranger => stranger.say(() => statement('initiator', randomBytes(32)))],
    ['that signs for the other side', stranger => stranger.say(hash => statement('responder', hash))],
    ["that says another node's key", stranger => stranger.say(hash => statement('initiator', hash), generateNodeKey())],
    [
      'that sends back what it got',
      async stranger => {
        await stranger.session()
        stranger.socket.write(stranger.received.subarray(48))
      },
    ],
    [
      'that begins a long record',
      async stranger => {
        await stranger.session()
        stranger.socket.write(concatBytes(Buffer.from('00010000', 'hex'), randomBytes(70_000)))
      },
    ],
  ])('%s is disconnected before it is known', async (_, act) => {
    const node = await nodes.start()
    const stranger = new Stranger(node.port)
    await act(stranger)
    await stranger.closed()
    expect(node.network.peerCount).toBe(0)
    expect(stranger.received.byteLength, 'no hello').toBeLessThanOrEqual(204)
  })

  test('that signs its own connection is heard', async () => {
    const node = await nodes.start()
    const stranger = new Stranger(node.port)
    await stranger.say(hash => statement('initiator', hash))
    await until('a hello', () => stranger.received.byteLength > 204)
  })

  test('costs no more until it is known, both ends counted, than keys, exchanges and signatures of a dozen', async () => {
    const node = await nodes.start({ limits: { connectsBurst: 10_000, pending: 1_000 } })
    const meet = async (count: number) => {
      for (let index = 0; index < count; index++) {
        const stranger = new Stranger(node.port)
        await stranger.say(hash => statement('responder', hash))
        await stranger.closed()
      }
    }
    /** Keys, exchanges and signatures, as many as both ends of a handshake need: the measure of this machine. */
    const compute = (count: number): void => {
      for (let index = 0; index < count; index++) {
        const [a, b] = [generateKeyPairSync('x25519'), generateKeyPairSync('x25519')]
        for (let exchange = 0; exchange < 6; exchange++)
          diffieHellman({ privateKey: a.privateKey, publicKey: b.publicKey })
        const signer = generateKeyPairSync('ed25519')
        const signature = sign(null, MESSAGE, signer.privateKey)
        verify(null, MESSAGE, signer.publicKey, signature)
      }
    }
    const costOf = async (work: (count: number) => Promise<void> | void): Promise<number> => {
      await work(50)
      const before = process.cpuUsage()
      await work(200)
      const { user, system } = process.cpuUsage(before)
      return (user + system) / 1_000 / 200
    }
    const unit = await costOf(compute)
    const cost = await costOf(meet)
    console.log(JSON.stringify({ unit, cost }))
    // A tick of the test's own waiting is among it.
    expect(cost / unit).toBeLessThan(12)
  })
})

test('a record longer than any frame is refused at its length', () => {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(2 ** 17)
  const records = new Records(new Uint8Array(32), new Uint8Array(32))
  expect(() => records.push(length, 0, () => {})).toThrow('a record of 131072 bytes')
})

test('records that are no frame end the connection', async () => {
  const node = await nodes.start()
  for (const bytes of [Buffer.alloc(14), randomBytes(64), Buffer.alloc(65_541)]) {
    const peer = await RawPeer.meet(node.port)
    peer.socket.write(peer.secureChannel.records.seal(bytes))
    expect(await peer.closed()).toBe('malformed')
  }
  expect(node.network.peerCount).toBe(0)
})
