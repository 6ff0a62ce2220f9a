import { bytesToHex, type Hex, hexToBytes, ZERO_HASH } from '@tandem/base/bytes.ts'
import { keccak256Hex } from '../../crypto/hash.ts'
import type { TraceOutput } from '../../evm/tracers/tracer-context.ts'
import { hashedKey } from '../../state/flat-tables.ts'
import type { StoredState } from '../../state/history/stored-state.ts'
import { decodeWord } from '../../state/storage-word.ts'
import type { StateChanges } from '../../state/update/state-update.ts'
import { slotPreimage } from './preimages.ts'
import type { StorageRangeRequest } from './worker-protocol.ts'

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
export const writeStorageRange = async (
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
