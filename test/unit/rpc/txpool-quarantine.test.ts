import { expect, test } from 'vitest'
import { SENDER, signedTransaction } from '../../support/rpc/memory-chain.ts'
import { Rig } from '../../support/rpc/rig.ts'

test('txpool methods tell what no block of this node tries, of what is pooled', async () => {
  // As the operator port has them.
  const rig = await Rig.start({ namespaces: { http: ['txpool'], ws: [] } })
  try {
    const hash = await rig.pool.submit(signedTransaction({ nonce: 5 }).raw)
    await rig.pool.submit(signedTransaction({ nonce: 6 }).raw)
    expect(await rig.result('txpool_status', [])).toEqual({ pending: '0x2', queued: '0x0' })
    rig.pool.held = [
      { hash, untilMs: 1 },
      { hash: `0x${'ab'.repeat(32)}`, untilMs: 1 },
    ]
    expect(await rig.result('txpool_status', [])).toEqual({ pending: '0x2', queued: '0x0', quarantined: '0x1' })
    expect(await rig.result('txpool_content', [])).toMatchObject({ quarantined: { [SENDER]: { '5': { hash } } } })
    expect(await rig.result('txpool_inspect', [])).toMatchObject({
      quarantined: { [SENDER]: { '5': expect.stringContaining('wei') } },
    })
    expect(await rig.result('txpool_contentFrom', [SENDER])).toMatchObject({ quarantined: { '5': { hash } } })
    expect(await rig.result('txpool_contentFrom', [`0x${'cd'.repeat(20)}`])).toEqual({ pending: {}, queued: {} })
  } finally {
    await rig.stop()
  }
})

test('a transaction that may not come back yet is refused with what to do', async () => {
  const rig = await Rig.start()
  try {
    rig.pool.refusal = { code: 'QUARANTINED', seconds: 60 } as { code: string }
    expect(await rig.failure('eth_sendRawTransaction', ['0x01'])).toBe(
      '-32000 transaction takes longer than a block of this node may, try again in 60 s or send another one with its nonce',
    )
  } finally {
    await rig.stop()
  }
})
