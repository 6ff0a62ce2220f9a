import { setTimeout as sleep } from 'node:timers/promises'
import type { Hex } from '@tandem/base/bytes.ts'
import { encodeBlock } from '../../../src/primitives/block.ts'
import type { StatusMessage } from '../../../src/primitives/consensus/message.ts'
import { wire } from '../network/raw-peer.ts'
import { MANY, manyTransactions } from './byzantine-member.ts'
import { betray, type Counts, type HostileKey, pour, type Scene } from './lanes.ts'

const TRANSACTIONS = manyTransactions(MANY)
const NOBODY = new Uint8Array(65).fill(1)
/** 3.2 MB count 51 times; 200 a second are let through. */
const PAUSE_MS = 250
const LANES = 4

/** A bitmap of all, and seals of nobody. */
const certificateOf = (size: number) => ({
  round: 0,
  bitmap: Uint8Array.of(2 ** size - 1),
  seals: Array.from({ length: size }, () => NOBODY),
})

/** Status in round 0 of a member that has nothing of the height. */
export const bareStatus = (number: number, wanted: Hex | null = null): StatusMessage => ({
  type: 'status',
  number,
  round: 0,
  hasProposal: false,
  prepares: new Uint8Array(1),
  commits: new Uint8Array(1),
  roundChanges: new Uint8Array(1),
  wanted,
})

const statusOf = (number: number, wanted: Hex | null) => wire('status', bareStatus(number, wanted))

/** As fast as the quota of one connection lets through, from several nodes of the key; no two messages are the same. */
const pouring =
  (make: (key: HostileKey, salt: number) => Uint8Array) =>
  (scene: Scene): Promise<Counts> => {
    let salt = 0
    return betray(scene, LANES, key => async peer => {
      await pour(peer, make(key, salt++))
      await sleep(PAUSE_MS)
    })
  }

const next = ({ head }: HostileKey, salt = 0) => ({ number: head().number + 1, parentHash: head().hash, salt })

/** Attacks that need a council key. */
export const MEMBER_ATTACKS = {
  /** 3.2 MB each, of the next height and its turn. */
  unsignedProposals: pouring((key, salt) =>
    key.byzantine.proposal({ ...next(key, salt), transactions: TRANSACTIONS, isSigned: false }),
  ),
  /** Signed, with another body of 3.2 MB under the header. */
  falseBodies: pouring((key, salt) => {
    const block = key.byzantine.block(next(key, salt))
    const head = key.byzantine.head(block, next(key))
    return wire('proposal', { head, block: encodeBlock({ ...block, transactions: TRANSACTIONS }) })
  }),
  /** Signed, 3.2 MB, and not its turn. */
  proposalsOutOfTurn: pouring((key, salt) => {
    const hostile = {
      ...next(key, salt),
      round: key.byzantine.roundOf(key.head().number + 1) + 1,
      transactions: TRANSACTIONS,
    }
    return key.byzantine.proposal(hostile)
  }),
  unsealedDecisions: pouring((key, salt) => {
    const block = encodeBlock(key.byzantine.block({ ...next(key, salt), transactions: TRANSACTIONS }))
    return wire('decided', { block, certificate: certificateOf(4) })
  }),
  /** Whole blocks of the past and of the open height, asked for again and again. */
  statuses: (scene: Scene) =>
    betray(scene, 1, key => async peer => {
      for (let back = 0; back < 20; back++) await pour(peer, statusOf(Math.max(1, key.head().number - back), null))
      await pour(peer, statusOf(key.head().number + 1, key.head().hash))
      await sleep(200)
    }),
  unsignedVotes: pouring(({ byzantine, head }) =>
    wire('vote', {
      type: 'prepare',
      number: head().number + 1,
      round: 0,
      blockHash: head().hash,
      sender: byzantine.index,
      signature: NOBODY,
    }),
  ),
}
