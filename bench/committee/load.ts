import type { Hex } from '@tandem/base/bytes.ts'
import type { Committee, NodeOfMany } from '../../test/support/committee.ts'
import { type Account, signerOf } from '../../test/support/load.ts'
import { sleep } from '../../test/support/node-process.ts'
import { forkOf, print } from './figures.ts'

const BATCH = 25
/** Sent and not yet in a block. */
const MOST_WAITING = 6_000
const WARM_UP_MS = 5_000
/** Above the highest base fee, which full blocks reach. */
const GAS_PRICE = 1_000n * 10n ** 9n
const REFUSED_PAUSE_MS = 100

interface Answer {
  readonly id: number
  readonly error?: { readonly message: string }
}

/**
 * Transfers that are in blocks, a second: accounts share the nodes among them, and each sends the next ones as long as few wait, and no
 * more than `perSecond` all together.
 */
export const load = async (
  committee: Committee,
  seconds: number,
  labels: object,
  perSecond?: number,
): Promise<boolean> => {
  const { accounts, nodes } = committee
  const [first] = nodes as [NodeOfMany]
  await first.reach(2)
  let sent = 0
  let included = 0
  let isOver = false
  const refusals: Record<string, number> = {}
  const batchMs = perSecond === undefined ? 0 : (1_000 * accounts.length * BATCH) / perSecond

  const lane = async (account: Account, { ready }: NodeOfMany, at: number): Promise<void> => {
    await sleep((batchMs * at) / accounts.length)
    const signed = signerOf(account.privateKey, ready.chainId)
    for (let nonce = 0; !isOver; ) {
      const beganMs = performance.now()
      while (sent - included > MOST_WAITING && !isOver) await sleep(20)
      const calls = Array.from({ length: BATCH }, (_, id) => ({
        ...{ jsonrpc: '2.0', id, method: 'eth_sendRawTransaction' },
        params: [signed({ nonce: nonce + id, value: 1n, maxFeePerGas: GAS_PRICE }).raw],
      }))
      const body = JSON.stringify(calls)
      const response = await fetch(ready.http, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      })
      const answers = ((await response.json()) as Answer[]).toSorted((a, b) => a.id - b.id)
      const refused = answers.findIndex(({ error }) => error !== undefined && error.message !== 'already known')
      const taken = refused < 0 ? BATCH : refused
      sent += taken
      nonce += taken
      if (refused < 0) {
        await sleep(Math.max(0, batchMs - (performance.now() - beganMs)))
        continue
      }
      // From the first that was refused on, all are sent again: no nonce may be missing.
      const message = answers[refused]?.error?.message ?? ''
      refusals[message] = (refusals[message] ?? 0) + 1
      await sleep(REFUSED_PAUSE_MS)
    }
  }

  /** Transactions in blocks, with the time at which each block was seen. */
  const seen: { readonly atMs: number; readonly count: number }[] = []
  const watch = async (): Promise<void> => {
    for (let next = (await first.number()) + 1; !isOver; await sleep(20)) {
      for (const head = await first.number(); next <= head; next++) {
        const count = Number(await first.rpc<Hex>('eth_getBlockTransactionCountByNumber', `0x${next.toString(16)}`))
        included += count
        seen.push({ atMs: performance.now(), count })
      }
    }
  }

  const watching = watch()
  const lanes = accounts.map((account, at) => lane(account, nodes[at % nodes.length] as NodeOfMany, at))
  await sleep(WARM_UP_MS)
  const from = seen.length
  await sleep(seconds * 1_000)
  isOver = true
  await Promise.all([...lanes, watching])
  const [begin, ...rest] = seen.slice(Math.max(0, from - 1))
  const end = rest.at(-1)
  if (begin === undefined || end === undefined) throw new Error('no block under load')
  const count = rest.reduce((sum, block) => sum + block.count, 0)
  print('transfers', {
    ...{ ...labels, unit: '1/s', included: Math.round((count / (end.atMs - begin.atMs)) * 1_000) },
    ...{ blocks: rest.length, ofOneBlock: Math.max(...rest.map(block => block.count)), refusals },
  })
  return (await forkOf(nodes)) === null
}
