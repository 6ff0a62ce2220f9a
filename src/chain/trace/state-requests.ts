import { assert } from '@tandem/base/assert.ts'
import { bytesToHex, type Hex, hexToBytes, ZERO_HASH } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { TRACE_LIMITS } from '../../config/limits/clients.ts'
import { keccak256Hex } from '../../crypto/hash.ts'
import type { TraceError } from '../../evm/tracers/config.ts'
import { dataJson, objectJson } from '../../evm/tracers/tracer-context.ts'
import { type Account, decodeAccount } from '../../state/account.ts'
import { decodeWord, hashedKey } from '../../state/flat-tables.ts'
import type { StoredState } from '../../state/history/stored-state.ts'
import type { StateChanges } from '../../state/update/state-update.ts'
import { AddressPreimages, slotPreimage } from './preimages.ts'
import type { RequestTimer } from './request-timer.ts'
import { replayFirst, type TraceContext, withReplay, withState } from './trace-context.ts'
import type {
  AccountRangeRequest,
  ModifiedAccountsRequest,
  StorageRangeRequest,
  TraceBlock,
} from './worker-protocol.ts'

/* Iterates the state of a block in the order of its hashed keys. */

/** Writes geth's StorageRangeResult: slots by their keccak, and the first one that does not fit. */
export const storageRange = (parts: TraceContext, request: StorageRangeRequest): Promise<void> =>
  withReplay(parts, request.block, async (replay, body, { stored }) => {
    const { sink, requestTimer } = parts
    await replayFirst(parts, replay, body, Math.min(request.after, body.count))
    let count = 0
    let nextKey: Hex | undefined
    sink.nest('{"storage":{', '}}')
    for await (const { hash, slot, word } of slotsOf(stored, replay.journal.changes(), request)) {
      if (count === request.limit) {
        nextKey = hash
        break
      }
      const key = slot === undefined ? 'null' : `"${slot}"`
      sink.write(`${count++ === 0 ? '' : ','}"${hash}":{"key":${key},"value":"${word}"}`)
      await requestTimer.turn()
    }
    sink.close(`},"nextKey":${nextKey === undefined ? 'null' : `"${nextKey}"`}}`)
  })

/** Writes geth's account dump, ordered by keccak of the address; `next` is the first that does not fit, in base64. */
export const accountRange = (parts: TraceContext, request: AccountRangeRequest): Promise<void> =>
  withState(parts.store, request.block.number, async ({ stored }) => {
    const { sink, store, requestTimer } = parts
    const known = new AddressPreimages()
    await known.addFromBlocks(store, request.block.number, requestTimer)
    let count = 0
    let next: Uint8Array | undefined
    sink.nest(`{"root":"${request.stateRoot.slice(2)}","accounts":{`, '}}')
    for await (const [key, row] of stored.accounts(hexToBytes(request.start))) {
      if (count === request.limit) {
        next = key
        break
      }
      await requestTimer.turn()
      const hash = bytesToHex(key)
      const address = known.get(hash)
      if (address === undefined && !request.incompletes) continue
      const json = await accountJson(stored, key, decodeAccount(row), address, request, requestTimer)
      sink.write(`${count++ === 0 ? '' : ','}"${address ?? `pre(${hash})`}":${json}`)
    }
    sink.close(next === undefined ? '}}' : `},"next":"${Buffer.from(next).toString('base64')}"}`)
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

/** Writes the addresses of modified accounts, in the order of their hashes. Throws TRACE_FAILED when there are too many, or one is unknown. */
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
    const keys = await stored.changedUpTo(last.number, () => requestTimer.turn())
    const limit = TRACE_LIMITS.modifiedAccounts
    if (keys.length > limit) throw failed(`more than ${limit} accounts were modified, ask for fewer blocks`)
    const addresses = keys.map(key => {
      const hash = bytesToHex(key)
      return known.get(hash) ?? unknown(hash)
    })
    sink.write(JSON.stringify(addresses))
  })
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

const FIRST_SLOT = new Uint8Array(32)

/** Returns the storage words whose slot is known, without leading zeros and prefix, as geth dumps them; others cannot be named. */
const storageJson = async (state: StoredState, hashedAddress: Uint8Array, timer: RequestTimer): Promise<string> => {
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
    await timer.turn()
  }
  return `{${words.join(',')}}`
}

const accountJson = async (
  state: StoredState,
  key: Uint8Array,
  account: Account,
  address: Hex | undefined,
  { withCode, withStorage }: AccountRangeRequest,
  timer: RequestTimer,
): Promise<string> => {
  const code = withCode ? await state.codeOf(account.codeHash) : undefined
  return objectJson({
    balance: `"${account.balance}"`,
    nonce: String(account.nonce),
    root: `"${account.storageRoot}"`,
    codeHash: `"${account.codeHash}"`,
    code: code === undefined || code.byteLength === 0 ? undefined : dataJson(code),
    storage: withStorage ? await storageJson(state, key, timer) : undefined,
    address: address === undefined ? undefined : `"${address}"`,
    key: dataJson(key),
  })
}
