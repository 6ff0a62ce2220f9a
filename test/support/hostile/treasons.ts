import { setTimeout as sleep } from 'node:timers/promises'
import { encodeBlock } from '../../../src/primitives/block.ts'
import type { Hex } from '../../../src/util/bytes.ts'
import { wire } from '../network/raw-peer.ts'
import { betray, type Counts, type HostileKey, pour, type Scene } from './lanes.ts'
import { MANY, manyTransactions } from './lying-member.ts'

const TRANSACTIONS = manyTransactions(MANY)
const NOBODY = new Uint8Array(65).fill(1)
const PAUSE_MS = 20

/** A bitmap of all, and seals of nobody. */
const certificateOf = (size: number) => ({
  round: 0,
  bitmap: Uint8Array.of(2 ** size - 1),
  seals: Array.from({ length: size }, () => NOBODY),
})

const statusOf = (number: number, wanted: Hex | null) =>
  wire('status', {
    type: 'status',
    number,
    round: 0,
    hasProposal: false,
    prepares: new Uint8Array(1),
    commits: new Uint8Array(1),
    roundChanges: new Uint8Array(1),
    wanted,
  })

/** Kept for as long as the head stands: to make one takes longer than to send it. */
const atHead = (make: (key: HostileKey) => Uint8Array) => {
  let last: { readonly number: number; readonly bytes: Uint8Array } | undefined
  return (key: HostileKey): Uint8Array => {
    const { number } = key.head()
    if (last?.number !== number) last = { number, bytes: make(key) }
    return last.bytes
  }
}

const pouring =
  (make: (key: HostileKey) => Uint8Array) =>
  (scene: Scene): Promise<Counts> => {
    const bytes = atHead(make)
    return betray(scene, key => async peer => {
      await pour(peer, bytes(key))
      await sleep(PAUSE_MS)
    })
  }

const next = ({ head }: HostileKey) => ({ number: head().number + 1, parentHash: head().hash })

/** What one council key can do that strangers cannot. */
export const TREASONS = {
  /** 3.2 MB each, of the next height and its turn. */
  unsignedProposals: pouring(key => key.liar.proposal({ ...next(key), transactions: TRANSACTIONS, isSigned: false })),
  /** Signed, with another body of 3.2 MB under the header. */
  falseBodies: pouring(key => {
    const block = key.liar.block(next(key))
    const head = key.liar.head(block, next(key))
    return wire('proposal', { head, block: encodeBlock({ ...block, transactions: TRANSACTIONS }) })
  }),
  /** Signed, 3.2 MB, and not its turn. */
  proposalsOutOfTurn: pouring(key => {
    const lie = { ...next(key), round: key.liar.roundOf(key.head().number + 1) + 1, transactions: TRANSACTIONS }
    return key.liar.proposal(lie)
  }),
  unsealedDecisions: pouring(key => {
    const block = encodeBlock(key.liar.block({ ...next(key), transactions: TRANSACTIONS }))
    return wire('decided', { block, certificate: certificateOf(4) })
  }),
  /** Whole blocks of the past and of the open height, asked for again and again. */
  statuses: (scene: Scene) =>
    betray(scene, key => async peer => {
      for (let back = 0; back < 20; back++) await pour(peer, statusOf(Math.max(1, key.head().number - back), null))
      await pour(peer, statusOf(key.head().number + 1, key.head().hash))
      await sleep(200)
    }),
  unsignedVotes: pouring(({ liar, head }) =>
    wire('vote', {
      type: 'prepare',
      number: head().number + 1,
      round: 0,
      blockHash: head().hash,
      sender: liar.index,
      signature: NOBODY,
    }),
  ),
}
