import { afterEach, expect, test } from 'vitest'
import { NETWORK_LIMITS } from '../../../src/config/limits/network.ts'
import { StrangerLog } from '../../../src/network/peer/peer-set.ts'
import { LogBook, NetNodes, until } from '../../support/network/net-node.ts'
import { RawPeer } from '../../support/network/raw-peer.ts'

const nodes = new NetNodes()
afterEach(() => nodes.stop())

const { burst } = NETWORK_LIMITS.strangerLines

test('lines beyond the rate are logged at debug', () => {
  const book = new LogBook()
  const log = new StrangerLog(book)
  for (let count = 0; count < 10 * burst; count++) log.log('warn', { count }, 'peer refused')
  expect(book.lines).toHaveLength(10 * burst)
  expect(book.lines.filter(({ level }) => level === 'warn').length).toBeLessThan(burst + 10)
})

test('strangers that come and go do not fill the log', async () => {
  const node = await nodes.start()
  for (let count = 0; count < burst; count++) {
    const peer = await RawPeer.meet(node.port, {}, null, { from: `127.0.1.${1 + count}` })
    peer.close()
  }
  await until('gone', () => node.log.reasons('peer disconnected').length === burst)
  expect(node.log.lines.filter(({ level }) => level === 'info').length).toBeLessThan(1.5 * burst)
})
