import { connect, createServer, type Socket } from 'node:net'
import type { Hex } from '@tandem/base/bytes.ts'
import { expect, onTestFinished, test } from 'vitest'
import { type KeyUse, lockKey } from '../../../../src/node/keys/key-lock.ts'

// Names of this process's own, so that test files that run at once do not meet.
let count = 0
const useOf = (change: Partial<KeyUse> = {}): KeyUse => ({
  address: `0x${(process.pid * 1_000 + count++).toString(16).padStart(40, '0')}`,
  genesisHash: `0x${'ab'.repeat(32)}`,
  dataDir: '/data/of a node',
  ...change,
})
const nameOf = ({ address, genesisHash }: KeyUse): string => `\0tandem-key-${address}-${genesisHash.slice(2, 18)}`
const holding = async (use: KeyUse): Promise<void> => {
  const release = await lockKey(use)
  onTestFinished(release)
}

test.runIf(process.platform === 'linux')('the second is refused, and learns who the first is', async () => {
  const use = useOf()
  await holding(use)
  await expect(lockKey({ ...use, dataDir: '/elsewhere' })).rejects.toMatchObject({
    detail: { code: 'KEY_IN_USE', address: use.address, pid: process.pid, dataDir: '/data/of a node' },
  })
})

test('a key given back can be taken again, and other keys and chains are free', async () => {
  const use = useOf()
  const release = await lockKey(use)
  await holding(useOf())
  await holding({ ...use, genesisHash: `0x${'cd'.repeat(32)}` as Hex })
  await release()
  await holding(use)
})

/** Somebody else who has taken the name, and treats those who ask in its own way. */
const squat = async (use: KeyUse, treat: (socket: Socket) => void): Promise<void> => {
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket.on('error', () => {}))
    treat(socket)
  })
  await new Promise<void>(resolve => server.listen({ path: nameOf(use) }, resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
}

test.runIf(process.platform === 'linux').each<[string, (socket: Socket) => void, object]>([
  ['says nothing', () => {}, {}],
  ['hangs up', socket => socket.destroy(), {}],
  ['talks without end', socket => socket.end('x'.repeat(1_000_000)), {}],
  ['says no object', socket => socket.end('null'), {}],
  ['says what is no process', socket => socket.end('{"pid":"1; rm","dataDir":5}'), {}],
  ['writes to the terminal', socket => socket.end(JSON.stringify({ pid: 7, dataDir: '\u001b[2J' })), { pid: 7 }],
])('who has the name and %s keeps it, and is believed nothing else', async (_, treat, known) => {
  const use = useOf()
  await squat(use, treat)
  const refused = await lockKey(use).catch(error => error.detail)
  expect(refused).toEqual({ code: 'KEY_IN_USE', address: use.address, ...known })
})

test.runIf(process.platform === 'linux')('those who ask and stay cannot keep others from asking for long', async () => {
  const use = useOf()
  await holding(use)
  const idle = Array.from({ length: 40 }, () => connect({ path: nameOf(use) }).on('error', () => {}))
  onTestFinished(() => {
    for (const socket of idle) socket.destroy()
  })
  await expect
    .poll(() => lockKey(use).catch(error => error.detail))
    .toMatchObject({ code: 'KEY_IN_USE', pid: process.pid })
})
