import { bytesToHex, type Hex, toQuantity, ZERO_HASH } from '@tandem/base/bytes.ts'
import { DEV_LIMITS } from '../../config/limits/chain.ts'
import type { Header } from '../../primitives/header.ts'
import { type Account, decodeAccount, EMPTY_CODE_HASH, EMPTY_ROOT } from '../../state/account.ts'
import { decodeWord, readCode } from '../../state/flat-tables.ts'
import { readPreimage } from '../../state/world/preimages.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import type { Snapshot, Store } from '../../storage/store.ts'
import { STATE_FORMAT, stateTooLarge } from './parse-state.ts'

interface DumpedAccount {
  /** A number, as anvil has it; hex where that is not exact. */
  readonly nonce: number | Hex
  readonly balance: Hex
  readonly code: Hex
  readonly storage: Record<Hex, Hex>
}

/** Approximate size of an account and a slot as text. */
const ACCOUNT_BYTES = 160
const SLOT_BYTES = 140

/** Dumps the head's state as JSON (parse-state.ts). Throws STATE_TOO_LARGE. */
export const dumpState = async (store: Store, header: Header): Promise<string> => {
  await using snapshot = store.snapshot()
  const accounts: Record<Hex, DumpedAccount> = {}
  let bytes = 0
  for await (const [key, row] of store.entries(BUCKETS.account, { snapshot })) {
    const account = await dumpAccount(store, snapshot, key, decodeAccount(row))
    bytes += ACCOUNT_BYTES + account.code.length + SLOT_BYTES * Object.keys(account.storage).length
    if (bytes > DEV_LIMITS.stateBytes) throw stateTooLarge()
    accounts[readPreimage(store, key, snapshot)] = account
  }
  const { number, timestamp } = header
  return JSON.stringify({ format: STATE_FORMAT, number, timestamp, accounts, ...headForAnvil(header) })
}

const dumpAccount = async (
  store: Store,
  snapshot: Snapshot,
  key: Uint8Array,
  { nonce, balance, codeHash, storageRoot }: Account,
): Promise<DumpedAccount> => ({
  nonce: typeof nonce === 'number' ? nonce : toQuantity(nonce),
  balance: toQuantity(balance),
  code: codeHash === EMPTY_CODE_HASH ? '0x' : bytesToHex(readCode(store, codeHash)),
  storage: storageRoot === EMPTY_ROOT ? {} : await slotsOf(store, snapshot, key),
})

const slotsOf = async (store: Store, snapshot: Snapshot, account: Uint8Array): Promise<Record<Hex, Hex>> => {
  const slots: Record<Hex, Hex> = {}
  let bytes = 0
  for await (const [key, word] of store.entries(BUCKETS.slot, { prefix: account, snapshot })) {
    slots[readPreimage(store, key.subarray(32), snapshot)] = decodeWord(word)
    bytes += SLOT_BYTES
    if (bytes > DEV_LIMITS.stateBytes) throw stateTooLarge()
  }
  return slots
}

/** Gas limit of the blocks that anvil makes on a loaded state: its own default, since the limit of these networks is none. */
const ANVIL_GAS_LIMIT = 30_000_000

/** Fields from which anvil goes on at this head: environment of its next block, and the head without its transactions. */
const headForAnvil = (header: Header) => ({
  block: {
    number: toQuantity(header.number),
    beneficiary: header.miner,
    timestamp: toQuantity(header.timestamp),
    gas_limit: ANVIL_GAS_LIMIT,
    basefee: Number(header.baseFeePerGas ?? 0n),
    difficulty: '0x0',
    prevrandao: ZERO_HASH,
    blob_excess_gas_and_price: { excess_blob_gas: 0, blob_gasprice: 1 },
    slot_num: 0,
  },
  best_block_number: header.number,
  blocks: [{ header: anvilHeader(header), transactions: [], ommers: [], withdrawals: null }],
  transactions: [],
  historical_states: null,
})

/** Header by the names of the RPC; anvil computes its hash, which is that of this chain. */
const anvilHeader = ({ logsBloom, extraData, ...header }: Header) => ({
  ...Object.fromEntries(
    Object.entries(header).map(([name, value]) => [name, typeof value === 'string' ? value : toQuantity(value)]),
  ),
  logsBloom: bytesToHex(logsBloom),
  extraData: bytesToHex(extraData),
})
