import { assert } from '@tandem/base/assert.ts'
import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { CodedError } from '@tandem/base/errors.ts'
import { TRACE_LIMITS } from '../../config/limits/clients.ts'
import type { TraceError } from '../../evm/tracers/config.ts'
import type { TraceOutput } from '../../evm/tracers/tracer-context.ts'
import { writeAccountRange } from './account-range.ts'
import { AddressPreimages } from './preimages.ts'
import { writeStorageRange } from './storage-range.ts'
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

/**
 * Collects the addresses a block touched by executing its transactions again, since the state has only their hashes.
 */
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
