import { DatabaseSync } from 'node:sqlite'
import { bytesToHex, hexToBytes } from '@tandem/base/bytes.ts'
import { describe, expect, test } from 'vitest'
import { DEVNET_FAUCET, FAUCET_LIMITS, PUBLIC_FAUCET } from '../../../src/config/limits/faucet.ts'
import { ManualClock } from '../../support/consensus/manual-clock.ts'
import { withTempDir } from '../../support/devnet.ts'
import { ModelChain } from '../../support/faucet/model-chain.ts'
import { ACCOUNT, OPEN_POLICY, openStore, recipient, senderOf, serviceOf } from '../../support/faucet/rig.ts'

const A = recipient(1)
const B = recipient(2)
const REVERSIBLE = { ...OPEN_POLICY, followsReversals: true }

const rig = (policy = REVERSIBLE) => {
  const chain = new ModelChain()
  const store = openStore(':memory:')
  const clock = new ManualClock()
  const sender = senderOf({ store, node: chain, clock, policy })
  const service = serviceOf({ store, node: chain, clock, policy })
  return { chain, store, clock, sender, service }
}

describe('a chain that goes back', () => {
  test('only development chains are followed', () => {
    expect([DEVNET_FAUCET.followsReversals, PUBLIC_FAUCET.followsReversals]).toEqual([true, false])
  })

  test.each([
    [true, 'is paid again'],
    [false, 'stays refused where blocks are final'],
  ])('reversals followed: %s: an address whose transfer was taken back %s', async followsReversals => {
    const { chain, store, clock, sender, service } = rig({ ...OPEN_POLICY, followsReversals })
    store.reserve(A, 'c', clock.nowMs())
    await sender.round()
    chain.mine()
    await sender.round()
    expect([store.unsettled(), chain.paid]).toEqual([0, [A]])
    const ask = async (): Promise<string> => {
      const asked = service.request({ address: A, work: undefined, client: 'c' }).then(
        () => 'granted',
        error => error.code,
      )
      // The answer waits for the transfer to be sent.
      await sender.round()
      await clock.advance(FAUCET_LIMITS.waitMs)
      return asked
    }
    expect(await ask()).toBe('TOO_SOON')
    chain.revertTo(0)
    expect(await ask()).toBe(followsReversals ? 'granted' : 'TOO_SOON')
    await sender.round()
    chain.mine()
    await sender.round()
    expect(chain.paid).toEqual(followsReversals ? [A] : [])
  })

  test('a transfer under way is not blocked by nonces that were taken back, and stays the one of its grant', async () => {
    const { chain, store, clock, sender } = rig()
    for (const who of [3, 4, 5]) store.reserve(recipient(who), 'c', clock.nowMs())
    await sender.round()
    chain.mine()
    await sender.round()
    const settledAt = chain.block
    store.reserve(A, 'c', clock.nowMs())
    await sender.round()
    chain.revertTo(0)
    chain.losePool()
    store.reserve(B, 'c', clock.nowMs())
    expect(settledAt).toBe(1)
    for (let round = 0; round < 4; round++) {
      await clock.advance(FAUCET_LIMITS.rebroadcastMs)
      await sender.round()
      chain.mine()
    }
    await sender.round()
    expect(store.unsettled()).toBe(0)
    expect(chain.paid).toEqual([ACCOUNT.address, ACCOUNT.address, ACCOUNT.address, A, B])
  })

  test('where blocks are final, a gap is left alone', async () => {
    const { chain, store, clock, sender } = rig(OPEN_POLICY)
    store.reserve(A, 'c', clock.nowMs())
    store.reserve(B, 'c', clock.nowMs())
    await sender.round()
    chain.mine()
    await sender.round()
    store.reserve(recipient(3), 'c', clock.nowMs())
    await sender.round()
    chain.revertTo(0)
    for (let round = 0; round < 4; round++) {
      await clock.advance(FAUCET_LIMITS.rebroadcastMs)
      await sender.round()
      chain.mine()
    }
    expect(chain.paid).toEqual([])
  })
})

describe('a price that became too low', () => {
  const stuck = async () => {
    const parts = rig(OPEN_POLICY)
    const { chain, store, clock, sender } = parts
    store.reserve(A, 'c', clock.nowMs())
    store.reserve(B, 'c', clock.nowMs())
    await sender.round()
    chain.baseFeeWei = 40_000_000_000n
    chain.gasPriceWei = 44_000_000_000n
    chain.mine()
    expect(chain.paid).toEqual([])
    return parts
  }

  test('is replaced after a while, under the same nonce, and each address is paid once', async () => {
    const { chain, store, clock, sender } = await stuck()
    const before = store.signed()
    await clock.advance(FAUCET_LIMITS.replaceMs - 1_000)
    await sender.round()
    expect(store.signed()).toEqual(before)
    await clock.advance(1_000)
    await sender.round()
    expect(store.signed().map(({ nonce, former }) => [nonce, former])).toEqual(
      before.map(({ nonce, hash }) => [nonce, [hash]]),
    )
    chain.mine()
    await sender.round()
    expect([store.unsettled(), chain.paid]).toEqual([0, [A, B]])
  })

  test('and the old transfer is the one that a block includes', async () => {
    const { chain, store, clock, sender } = await stuck()
    const [first] = store.signed()
    await clock.advance(FAUCET_LIMITS.replaceMs)
    const { send } = chain
    chain.send = async () => undefined
    await sender.round()
    chain.send = send
    chain.baseFeeWei = 0n
    chain.mine()
    await sender.round()
    expect([store.unsettled(), chain.paid]).toEqual([0, [A, B]])
    expect(store.find(A)?.hash).toBe(first?.hash)
  })

  test('survives a kill between the storing and the sending of the new transfer', () =>
    withTempDir(async dir => {
      const path = `${dir}/grants.sqlite`
      const chain = new ModelChain()
      const clock = new ManualClock()
      const store = openStore(path)
      store.reserve(A, 'c', clock.nowMs())
      const sender = senderOf({ store, node: chain, clock })
      await sender.round()
      chain.baseFeeWei = 40_000_000_000n
      chain.gasPriceWei = 44_000_000_000n
      await clock.advance(FAUCET_LIMITS.replaceMs)
      const { send } = chain
      chain.send = () => Promise.reject(new Error('killed'))
      await expect(sender.round()).rejects.toThrow('killed')
      chain.send = send
      store.close()
      const again = openStore(path)
      const next = senderOf({ store: again, node: chain, clock })
      await next.round()
      chain.mine()
      await next.round()
      expect([again.unsettled(), chain.paid]).toEqual([0, [A]])
      again.close()
    }))

  test('a price that still pays is left as it is, however long the transfer waits', async () => {
    const { chain, store, clock, sender } = rig(OPEN_POLICY)
    store.reserve(A, 'c', clock.nowMs())
    await sender.round()
    const before = store.signed()
    await clock.advance(10 * FAUCET_LIMITS.replaceMs)
    await sender.round()
    expect(store.signed()).toEqual(before)
    expect(chain.paid).toEqual([])
  })
})

test('a store of an earlier version is taken over', () =>
  withTempDir(async dir => {
    const path = `${dir}/grants.sqlite`
    const database = new DatabaseSync(path)
    database.exec(`CREATE TABLE grants (address BLOB PRIMARY KEY, reserved_at INTEGER NOT NULL, client TEXT NOT NULL,
      state TEXT NOT NULL, nonce INTEGER, raw BLOB, hash BLOB, block INTEGER) WITHOUT ROWID`)
    const hash = `0x${'22'.repeat(32)}` as const
    database
      .prepare("INSERT INTO grants VALUES (?, 1, 'c', 'signed', 0, ?, ?, NULL)")
      .run(hexToBytes(A), hexToBytes('0x01'), hexToBytes(hash))
    database.close()
    const store = openStore(path)
    expect(store.signed()).toEqual([{ address: A, nonce: 0, raw: bytesToHex(Uint8Array.of(1)), hash, former: [] }])
    store.close()
  }))

test('the balance is watched without requests', async () => {
  const { chain, clock, service } = rig(OPEN_POLICY)
  let reads = 0
  const { balance } = chain
  chain.balance = async () => {
    reads++
    return balance()
  }
  service.start()
  await clock.advance(1)
  expect(reads).toBe(1)
  await clock.advance(3 * FAUCET_LIMITS.watchMs)
  expect(reads).toBe(4)
  await service.stop()
})
