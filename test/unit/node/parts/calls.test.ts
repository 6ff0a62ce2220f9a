import { bytesToBigint, concatBytes, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { silentLogger } from '@tandem/base/logger.ts'
import { expect, test } from 'vitest'
import { CallBlocks } from '../../../../src/chain/call-blocks.ts'
import { PendingBlockBuilder } from '../../../../src/chain/pending-block.ts'
import { createCalls } from '../../../../src/node/parts/calls.ts'
import { ACCOUNT_KEYS, ACCOUNTS, START_WEI, signedRaw, VALIDATOR, withChain } from '../../../support/chain.ts'

const [ALICE_KEY] = ACCOUNT_KEYS as [Uint8Array]
const [ALICE, BOB] = ACCOUNTS as [Hex, Hex]

/** Init code that answers the balance of an account. */
const balanceOf = (who: Hex): Uint8Array =>
  concatBytes(Uint8Array.of(0x73), hexToBytes(who), Uint8Array.of(0x31, 0x5f, 0x52, 0x60, 0x20, 0x5f, 0xf3))

test('a call on the pending block sees one block, also when the chain goes on while the call is prepared', () =>
  withChain(async chain => {
    await chain.pool.service.submit(signedRaw(ALICE_KEY, { to: BOB, value: 5n }))
    const pending = new PendingBlockBuilder({
      ...chain,
      pool: { select: baseFee => chain.pool.service.select(baseFee), version: chain.pool.version },
      coinbase: VALIDATOR,
    })
    let mined = 0
    const state = async () => {
      const state = await pending.state()
      if (mined++ === 0) await chain.mine()
      return state
    }
    const calls = createCalls({
      ...chain,
      params: chain.genesis.params,
      engine: 'wasm',
      bases: new CallBlocks({ ...chain, pending: { state } }),
      logger: silentLogger,
    })
    try {
      const { output } = await calls.call(
        {
          number: 0,
          pending: true,
          message: { from: ALICE, to: null, value: 0n, data: balanceOf(BOB) },
        },
        'client',
      )
      expect(bytesToBigint(output)).toBe(START_WEI + 5n)
    } finally {
      await calls.close()
    }
  }))
