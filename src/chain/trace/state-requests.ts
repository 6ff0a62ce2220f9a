import { assert } from '@tandem/base/assert.ts'
import { bytesToHex, type Hex, hexToBytes, ZERO_HASH } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { TRACE_LIMITS } from '../../config/limits/clients.ts'
import { keccak256Hex } from '../../crypto/hash.ts'
import type { TraceError } from '../../evm/tracers/config.ts'
import { dataJson, objectJson, type TraceOutput } from '../../evm/tracers/tracer-context.ts'
import { type Account, decodeAccount } from '../../state/account.ts'
import { decodeWord, hashedKey } from '../../state/flat-tables.ts'
import type { StoredState } from '../../state/history/stored-state.ts'
import type { StateChanges } from '../../state/update/state-update.ts'
import type { Store } from '../../storage/store.ts'
import { AddressPreimages, slotPreimage } from './preimages.ts'
import { replayFirst, type TraceContext, withReplay, withState } from './trace-context.ts'
import type {
  AccountRangeRequest,
  ModifiedAccountsRequest,
  StorageRangeRequest,
  TraceBlock,
} from './worker-protocol.ts'

/* Iterates the state of a block in the order of its hashed keys. */

export const storageRange = (parts: TraceContext, request: StorageRangeRequest): Promise<void> =>
  withReplay(parts, request.block, async (replay, body, { stored }) => {
    const { sink, requestTimer } = parts
    await replayFirst(parts, replay, body, Math.min(request.after, body.count))
    await writeStorageRange(sink, stored, replay.journal.changes(), request, () => requestTimer.turn())
  })

export const accountRange = (parts: TraceContext, request: AccountRangeRequest): Promise<void> =>
  withState(parts.store, request.block.number, async ({ stored }) => {
    const { sink, store, requestTimer } = parts
    await writeAccountRange(sink, store, stored, request, () => requestTimer.turn())
  })

/** Collects the addresses a block touched by executing its transactions again, since the state has only their hashes. */
const addTouched = (parts: TraceContext, block: TraceBlock, known: AddressPreimages): Promise<void> =>
  withReplay(parts, block, async (replay, body) => {
    await replayFirst(parts, replay, body, body.count)
    const { accounts, storage } = replay.journal.changes()
    for (const address of [...accounts.keys(), ...storage.keys()]) known.add(address)
    const { miner, proposerReward, foundation } = block.env
    for (const address of [miner, proposerReward, foundation]) known.add(address)
  })

export const modifiedAccounts = async (
  parts: TraceContext,
  { blocks, credited }: ModifiedAccountsRequest,
): Promise<void> => {
  const { store, sink, requestTimer } = parts
  const [first, last] = [blocks[0], blocks.at(-1)]
  assert(first !== undefined && last !== undefined, 'there are blocks to look at')
  const known = new AddressPreimages()
  for (const address of credited) known.add(address)
  for (const block of blocks) await addTouched(parts, block, known)
  await withState(store, first.number - 1, async ({ stored }) => {
    writeAddresses(sink, await stored.changedUpTo(last.number, () => requestTimer.turn()), known)
  })
}

/** Writes the addresses of hashed keys, in the order of the keys. Throws TRACE_FAILED when there are too many, or one is unknown. */
const writeAddresses = (output: TraceOutput, keys: readonly Uint8Array[], known: AddressPreimages): void => {
  const limit = TRACE_LIMITS.modifiedAccounts
  if (keys.length > limit) throw failed(`more than ${limit} accounts were modified, ask for fewer blocks`)
  const addresses = keys.map(key => {
    const hash = bytesToHex(key)
    return known.get(hash) ?? unknown(hash)
  })
  output.write(JSON.stringify(addresses))
}

const failed = (reason: string) => new CodedError<TraceError>({ code: 'TRACE_FAILED', reason })

const unknown = (hash: Hex): never => {
  throw failed(`no preimage found for hash ${hash.slice(2)}`)
}

interface SlotEntry {
  readonly hash: Hex
  /** undefined: not known. */
  readonly slot: Hex | undefined
  readonly word: Hex
}

/** Returns the account's slots changed by the transactions before, by hashed slot. */
const changedSlots = ({ storage }: StateChanges, address: Hex): ReadonlyMap<Hex, SlotEntry> =>
  new Map(
    [...(storage.get(address) ?? [])].map(([slot, { after }]) => {
      const hash = keccak256Hex(hexToBytes(slot))
      return [hash, { hash, slot, word: after }]
    }),
  )

/** Yields stored slots with the changes applied, in order. */
async function* slotsOf(
  state: StoredState,
  changes: StateChanges,
  { address, start }: StorageRangeRequest,
): AsyncGenerator<SlotEntry> {
  const changed = changedSlots(changes, address)
  const ahead = [...changed.values()]
    .filter(({ hash, word }) => hash >= start && word !== ZERO_HASH)
    .sort((a, b) => (a.hash < b.hash ? -1 : 1))
  let next = 0
  const stored = changes.cleared?.has(address) ? [] : state.slots(hashedKey(address), hexToBytes(start))
  for await (const [key, row] of stored) {
    const hash = bytesToHex(key)
    for (let entry = ahead[next]; entry !== undefined && entry.hash < hash; entry = ahead[next]) {
      next++
      yield entry
    }
    if (!changed.has(hash)) yield { hash, slot: slotPreimage(hash), word: decodeWord(row) }
  }
  yield* ahead.slice(next)
}

/** Writes geth's StorageRangeResult: slots by their keccak, and the first one that does not fit. */
const writeStorageRange = async (
  output: TraceOutput,
  state: StoredState,
  changes: StateChanges,
  request: StorageRangeRequest,
  turn: () => Promise<void>,
): Promise<void> => {
  let count = 0
  let nextKey: Hex | undefined
  output.nest('{"storage":{', '}}')
  for await (const { hash, slot, word } of slotsOf(state, changes, request)) {
    if (count === request.limit) {
      nextKey = hash
      break
    }
    const key = slot === undefined ? 'null' : `"${slot}"`
    output.write(`${count++ === 0 ? '' : ','}"${hash}":{"key":${key},"value":"${word}"}`)
    await turn()
  }
  output.close(`},"nextKey":${nextKey === undefined ? 'null' : `"${nextKey}"`}}`)
}

const FIRST_SLOT = new Uint8Array(32)

/** Returns the storage words whose slot is known, without leading zeros and prefix, as geth dumps them; others cannot be named. */
const storageJson = async (
  state: StoredState,
  hashedAddress: Uint8Array,
  turn: () => Promise<void>,
): Promise<string> => {
  const words: string[] = []
  let looked = 0
  for await (const [key, row] of state.slots(hashedAddress, FIRST_SLOT)) {
    const slot = slotPreimage(bytesToHex(key))
    if (slot !== undefined)
      words.push(
        `"${slot}":"${decodeWord(row)
          .slice(2)
          .replace(/^(00)+/, '')}"`,
      )
    if (++looked === TRACE_LIMITS.storageResults) break
    await turn()
  }
  return `{${words.join(',')}}`
}

const accountJson = async (
  state: StoredState,
  key: Uint8Array,
  account: Account,
  address: Hex | undefined,
  { withCode, withStorage }: AccountRangeRequest,
  turn: () => Promise<void>,
): Promise<string> => {
  const code = withCode ? await state.codeOf(account.codeHash) : undefined
  return objectJson({
    balance: `"${account.balance}"`,
    nonce: String(account.nonce),
    root: `"${account.storageRoot}"`,
    codeHash: `"${account.codeHash}"`,
    code: code === undefined || code.byteLength === 0 ? undefined : dataJson(code),
    storage: withStorage ? await storageJson(state, key, turn) : undefined,
    address: address === undefined ? undefined : `"${address}"`,
    key: dataJson(key),
  })
}

/** Writes geth's account dump, ordered by keccak of the address; `next` is the first that does not fit, in base64. */
const writeAccountRange = async (
  output: TraceOutput,
  store: Store,
  state: StoredState,
  request: AccountRangeRequest,
  turn: () => Promise<void>,
): Promise<void> => {
  const known = new AddressPreimages()
  await known.addFromBlocks(store, request.block.number, TRACE_LIMITS.addressTransactions, turn)
  let count = 0
  let next: Uint8Array | undefined
  output.nest(`{"root":"${request.stateRoot.slice(2)}","accounts":{`, '}}')
  for await (const [key, row] of state.accounts(hexToBytes(request.start))) {
    if (count === request.limit) {
      next = key
      break
    }
    await turn()
    const hash = bytesToHex(key)
    const address = known.get(hash)
    if (address === undefined && !request.incompletes) continue
    const json = await accountJson(state, key, decodeAccount(row), address, request, turn)
    output.write(`${count++ === 0 ? '' : ','}"${address ?? `pre(${hash})`}":${json}`)
  }
  output.close(next === undefined ? '}}' : `},"next":"${Buffer.from(next).toString('base64')}"}`)
}
