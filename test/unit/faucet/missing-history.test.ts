import type { Hex } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { expect, test } from 'vitest'
import { createFaucetNode, type FaucetNodeError } from '../../../src/faucet/faucet-node.ts'
import { ManualClock } from '../../support/consensus/manual-clock.ts'
import { ModelChain } from '../../support/faucet/model-chain.ts'
import { openStore, recipient, senderOf } from '../../support/faucet/rig.ts'

const PRUNED = 'pruned history unavailable: this node has no blocks between genesis and 900'

/** A chain whose node has not fetched some of its blocks yet. */
class YoungChain extends ModelChain {
  isYoung = false

  constructor() {
    super()
    const { blockOf } = this
    const call = async () => JSON.stringify({ error: { code: -32000, message: PRUNED } })
    const young = createFaucetNode(call)
    this.blockOf = (hash: Hex) => (this.isYoung ? young.blockOf(hash) : blockOf(hash))
  }
}

test('a transfer whose block the node has not fetched yet is not signed again, and holds up no other', async () => {
  const chain = new YoungChain()
  const [store, clock] = [openStore(':memory:'), new ManualClock()]
  const sender = senderOf({ store, node: chain, clock })
  store.reserve(recipient(1), 'c', clock.nowMs())
  await sender.round()
  chain.mine()
  chain.isYoung = true
  store.reserve(recipient(2), 'c', clock.nowMs())
  for (let round = 0; round < 20; round++) {
    await sender.round()
    await clock.advance(60_000)
    chain.mine()
  }
  expect(chain.paid).toEqual([recipient(1), recipient(2)])
  expect(store.unsettled()).toBe(2)
  chain.isYoung = false
  await sender.round()
  expect(store.unsettled()).toBe(0)
  expect(chain.paid).toEqual([recipient(1), recipient(2)])
})

test('any other refusal of the node ends the round', async () => {
  const node = createFaucetNode(async () => JSON.stringify({ error: { code: -32005, message: 'too many requests' } }))
  await expect(node.blockOf(`0x${'11'.repeat(32)}`)).rejects.toThrow(CodedError<FaucetNodeError>)
})
