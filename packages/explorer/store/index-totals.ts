import { assert } from '@tandem/base/assert.ts'
import { type Hex, ZERO_ADDRESS } from '@tandem/base/bytes.ts'
import { getOrMake } from '@tandem/base/get-or-make.ts'
import {
  type BlockRecord,
  counterpartOf,
  dayOf,
  hourOf,
  type InternalRecord,
  type ProofRecord,
  type RewardRole,
  type TokenStandard,
  TRANSACTION_KINDS,
  type TransactionKind,
  type TransactionRecord,
  type TransferRecord,
} from './records.ts'

/** Sums of an address over blocks. */
export interface AccountTotals {
  transactions: number
  sent: number
  received: number
  transfers: number
  internal: number
  creation: { readonly creator: Hex; readonly transaction: Hex } | null
  firstBlock: number
  lastBlock: number
  /** Day of the first block. */
  firstDay: number
  /** Day of the first block that shows it to be a contract. */
  contractDay: number | null
}

export interface TokenTotals {
  /** Standard of its first transfer. */
  readonly standard: TokenStandard
  transfers: number
  /** Transfers by standard: a contract may log those of several. */
  readonly byStandard: Record<TokenStandard, number>
  /** Units were minted or burnt: its supply must be read again. */
  supplyChanged: boolean
}

/** Sums of an account that count the rows of its lists. */
export const ACCOUNT_SUMS = ['transactions', 'sent', 'received', 'transfers', 'internal'] as const

/** Sums of a UTC day over its blocks. */
export interface DayTotals {
  blocks: number
  transactions: number
  gasUsed: bigint
  valueWei: bigint
  feesWei: bigint
  burntWei: bigint
  gasPriceSum: bigint
  firstTimestamp: number
  lastTimestamp: number
  /** Number of transactions by address that sent or received. */
  readonly active: Map<Hex, number>
}

interface ProducerTotals {
  mined: number
  proposed: number
  minedWei: bigint
  proposedWei: bigint
}

/** Sums of what an address earned in a cycle. */
interface RewardTotals {
  readonly address: Hex
  readonly cycle: number
  readonly role: RewardRole
  blocks: number
  wei: bigint
}

/** Sums over the proof headers of an hour. */
interface ProofHourTotals {
  headers: number
  /** Expected number of hashes. */
  work: bigint
}

/** Counts of the rows of blocks. */
export const ROW_COUNTS = ['blocks', 'transactions', 'transfers', 'internal', 'proofs'] as const

/** Counters that blocks change by themselves, by name, with those of the kinds of transactions. */
export const rowCounts = (totals: IndexTotals): readonly (readonly [string, number])[] => [
  ...ROW_COUNTS.map(name => [name, totals[name]] as const),
  ...TRANSACTION_KINDS.map(kind => [`transactions:${kind}`, totals.kinds[kind]] as const),
]

/**
 * Contribution of blocks to the running sums of the index. Every back end adds it for new blocks and subtracts it for removed ones, and
 * the recount compares it with the stored sums, so that each sum has one definition.
 */
export interface IndexTotals {
  blocks: number
  transactions: number
  transfers: number
  internal: number
  proofs: number
  readonly kinds: Record<TransactionKind, number>
  readonly accounts: Map<Hex, AccountTotals>
  readonly tokens: Map<Hex, TokenTotals>
  /** By token, then owner: the sum of all movements. */
  readonly holders: Map<Hex, Map<Hex, bigint>>
  readonly days: Map<number, DayTotals>
  readonly producers: Map<Hex, ProducerTotals>
  /** By `rewardKey`. */
  readonly rewards: Map<string, RewardTotals>
  readonly proofHours: Map<number, ProofHourTotals>
  /** Number of proof headers by day, then miner. */
  readonly proofMiners: Map<number, Map<Hex, number>>
}

/** Sums over blocks in ascending order. */
export const totalsOf = (records: Iterable<BlockRecord>): IndexTotals => {
  const totals = emptyTotals()
  for (const record of records) addToTotals(totals, record)
  return totals
}

export const emptyTotals = (): IndexTotals => ({
  blocks: 0,
  transactions: 0,
  transfers: 0,
  internal: 0,
  proofs: 0,
  kinds: Object.fromEntries(TRANSACTION_KINDS.map(kind => [kind, 0])) as Record<TransactionKind, number>,
  accounts: new Map(),
  tokens: new Map(),
  holders: new Map(),
  days: new Map(),
  producers: new Map(),
  rewards: new Map(),
  proofHours: new Map(),
  proofMiners: new Map(),
})

/** Adds a block behind those that were added before. */
export const addToTotals = (totals: IndexTotals, record: BlockRecord): void => {
  totals.blocks++
  totals.transactions += record.transactions.length
  totals.transfers += record.transfers.length
  totals.internal += record.internal.length
  totals.proofs += record.proofs.length
  const day = dayTotals(totals, record)
  const proposer = producer(totals, record.proposer)
  proposer.proposed++
  proposer.proposedWei += record.proposerWei
  addReward(totals, { address: record.proposer, cycle: record.cycle, role: 'union' }, record.proposerWei)
  if (record.miner !== ZERO_ADDRESS) producer(totals, record.miner).mined++
  for (const [address, wei] of minedOf(record)) {
    producer(totals, address).minedWei += wei
    addReward(totals, { address, cycle: record.cycle, role: 'miner' }, wei)
  }
  for (const transaction of record.transactions) addTransaction(totals, record, day, transaction)
  for (const transfer of record.transfers) addTransfer(totals, record, transfer)
  for (const transfer of record.internal) addInternal(totals, record, transfer)
  for (const proof of record.proofs) addProof(totals, proof)
}

/** Earnings of miners in a block, by address: fees, and what it credits of the minting. */
const minedOf = ({ miner, minerWei, minerCredits }: BlockRecord): ReadonlyMap<Hex, bigint> => {
  const mined = new Map<Hex, bigint>(miner === ZERO_ADDRESS ? [] : [[miner, minerWei]])
  for (const { address, amountWei } of minerCredits) mined.set(address, (mined.get(address) ?? 0n) + amountWei)
  return mined
}

const producer = ({ producers }: IndexTotals, address: Hex): ProducerTotals =>
  getOrMake(producers, address, () => ({ mined: 0, proposed: 0, minedWei: 0n, proposedWei: 0n }))

export const rewardKey = ({ address, cycle, role }: Pick<RewardTotals, 'address' | 'cycle' | 'role'>): string =>
  `${address} ${cycle} ${role}`

const addReward = (
  { rewards }: IndexTotals,
  of: Pick<RewardTotals, 'address' | 'cycle' | 'role'>,
  wei: bigint,
): void => {
  const found = getOrMake(rewards, rewardKey(of), () => ({ ...of, blocks: 0, wei: 0n }))
  found.blocks++
  found.wei += wei
}

const dayTotals = ({ days }: IndexTotals, record: BlockRecord): DayTotals => {
  const { timestamp } = record
  const day = getOrMake(days, dayOf(timestamp), () => ({
    ...{ blocks: 0, transactions: 0, gasUsed: 0n, valueWei: 0n, feesWei: 0n, burntWei: 0n, gasPriceSum: 0n },
    ...{ firstTimestamp: timestamp, lastTimestamp: timestamp, active: new Map<Hex, number>() },
  }))
  day.blocks++
  day.transactions += record.transactions.length
  day.gasUsed += record.gasUsed
  day.feesWei += record.feesWei
  day.burntWei += record.burntWei
  day.lastTimestamp = timestamp
  return day
}

const account = ({ accounts }: IndexTotals, address: Hex, record: BlockRecord): AccountTotals => {
  const found = getOrMake(accounts, address, () => ({
    ...{ transactions: 0, sent: 0, received: 0, transfers: 0, internal: 0, creation: null, contractDay: null },
    ...{ firstBlock: record.number, lastBlock: record.number, firstDay: dayOf(record.timestamp) },
  }))
  found.lastBlock = record.number
  return found
}

const addTransaction = (
  totals: IndexTotals,
  record: BlockRecord,
  day: DayTotals,
  transaction: TransactionRecord,
): void => {
  totals.kinds[transaction.kind]++
  if (transaction.status === 1) day.valueWei += transaction.value
  day.gasPriceSum += transaction.gasPrice
  const sender = account(totals, transaction.from, record)
  sender.sent++
  sender.transactions++
  countActive(day, transaction.from)
  const other = counterpartOf(transaction)
  if (other === null) return
  const recipient = account(totals, other, record)
  recipient.received++
  if (other !== transaction.from) {
    recipient.transactions++
    countActive(day, other)
  }
  if (transaction.created === null) return
  recipient.contractDay ??= dayOf(record.timestamp)
  recipient.creation = { creator: transaction.from, transaction: transaction.hash }
}

const countActive = ({ active }: DayTotals, address: Hex): void => {
  active.set(address, (active.get(address) ?? 0) + 1)
}

const tokenTotals = ({ tokens }: IndexTotals, token: Hex, standard: TokenStandard): TokenTotals => {
  const byStandard = { 'ERC-20': 0, 'ERC-721': 0, 'ERC-1155': 0 }
  return getOrMake(tokens, token, () => ({ standard, transfers: 0, byStandard, supplyChanged: false }))
}

/** Number of transfers of another standard than the one that the token is listed with. */
export const otherTransfers = ({ transfers, byStandard }: TokenTotals, standard: TokenStandard): number =>
  transfers - byStandard[standard]

const addTransfer = (totals: IndexTotals, record: BlockRecord, transfer: TransferRecord): void => {
  const { token, from, to, amount, standard } = transfer
  const found = tokenTotals(totals, token, standard)
  found.transfers++
  found.byStandard[standard]++
  if (from === ZERO_ADDRESS || to === ZERO_ADDRESS) found.supplyChanged = true
  account(totals, token, record).contractDay ??= dayOf(record.timestamp)
  for (const party of new Set([from, to])) if (party !== ZERO_ADDRESS) account(totals, party, record).transfers++
  const owners = getOrMake(totals.holders, token, () => new Map<Hex, bigint>())
  if (from !== ZERO_ADDRESS) owners.set(from, (owners.get(from) ?? 0n) - amount)
  if (to !== ZERO_ADDRESS) owners.set(to, (owners.get(to) ?? 0n) + amount)
}

const addInternal = (totals: IndexTotals, record: BlockRecord, transfer: InternalRecord): void => {
  const { kind, from, to, transactionIndex } = transfer
  for (const party of new Set([from, to])) account(totals, party, record).internal++
  if (kind !== 'create') return
  const created = account(totals, to, record)
  created.contractDay ??= dayOf(record.timestamp)
  const transaction = record.transactions[transactionIndex]
  assert(transaction !== undefined, 'an internal transfer belongs to a transaction of its block')
  created.creation = { creator: from, transaction: transaction.hash }
}

const addProof = ({ proofHours, proofMiners }: IndexTotals, { timestamp, difficulty, miner }: ProofRecord): void => {
  const hour = getOrMake(proofHours, hourOf(timestamp), () => ({ headers: 0, work: 0n }))
  hour.headers++
  hour.work += difficulty
  const miners = getOrMake(proofMiners, dayOf(timestamp), () => new Map<Hex, number>())
  miners.set(miner, (miners.get(miner) ?? 0) + 1)
}
