import { bytesToHex, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import { decodeProofHeader, type ProofHeader, proofHeaderId } from '../../primitives/proof-header.ts'
import { decodeProofState } from '../../rules/proof/proof-state.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import { numberKey, readNumber } from '../../storage/keys.ts'
import type { Store } from '../../storage/store.ts'
import type { BlockStore } from '../store/block-store.ts'
import { decodeProofRow } from './proof-rows.ts'

/**
 * Yields the faults of a store's proof chain, and the main blocks where they are: the tip of each block must follow from the headers in its body, each header must reference
 * the previous one and its main block, the rows for validating later blocks must exist, and no row may lack a header.
 */
export async function* verifyProofs(
  store: Store,
  blocks: BlockStore,
  { first, head }: { readonly first: number; readonly head: number },
): AsyncGenerator<{ readonly number: number; readonly problem: string }> {
  let tip: Hex | undefined
  let height: number | undefined
  for (let number = first; number <= head; number++) {
    const block = await readableBlock(blocks, number)
    if (block === undefined) {
      tip = undefined
      continue
    }
    for (const bytes of block.proofHeaders) {
      for await (const problem of verifyHeader(store, blocks, { number, bytes, tip })) yield { number, problem }
      const header = orUndefined(() => decodeProofHeader(bytes))
      tip = header && proofHeaderId(header)
      height = header?.height
    }
    const { proofTip } = block.extra
    if (tip !== undefined && proofTip !== tip)
      yield { number, problem: `proof tip is ${proofTip}, its proof headers lead to ${tip}` }
    tip = proofTip
  }
  for await (const [key] of store.entries(BUCKETS.proofHeight)) {
    const found = readNumber(key)
    if (height !== undefined && found > height) yield { number: head, problem: `proof height ${found} is in no block` }
  }
}

const readableBlock = async (blocks: BlockStore, number: number) => {
  try {
    return await blocks.block(number)
  } catch (error) {
    // Reported by the check of blocks.
    if (isCoded(error) && error.code.startsWith('STORE_')) throw error
    return undefined
  }
}

const orUndefined = <T>(read: () => T): T | undefined => {
  try {
    return read()
  } catch {
    return undefined
  }
}

interface Place {
  readonly number: number
  readonly bytes: Uint8Array
  /** Tip before it; undefined: not known. */
  readonly tip: Hex | undefined
}

async function* verifyHeader(store: Store, blocks: BlockStore, { number, bytes, tip }: Place): AsyncGenerator<string> {
  const header = orUndefined(() => decodeProofHeader(bytes))
  if (header === undefined) {
    yield 'a proof header cannot be read'
    return
  }
  const { height, anchorNumber, anchorHash, parentId } = header
  const id = proofHeaderId(header)
  if (tip !== undefined && parentId !== tip) yield `proof header ${height} stands on ${parentId}, not on ${tip}`
  const anchored = anchorNumber < number && (await blocks.numberOf(anchorHash)) === anchorNumber
  if (!anchored && anchorNumber >= blocks.earliest) yield `proof header ${height} names no main block before it`
  const row = await store.get(BUCKETS.proofHeader, hexToBytes(id))
  if (row === undefined || !isRowOf(row, header, number)) yield `row of proof header ${height} is wrong`
  const at = await store.get(BUCKETS.proofHeight, numberKey(height))
  if (at === undefined || bytesToHex(at) !== id) yield `lookup of proof height ${height} is wrong`
  const state = await store.get(BUCKETS.proofState, hexToBytes(id))
  // Only blocks that this node executed, with a row of supply before them, left states: those up to a snapshot's did not.
  if (state === undefined ? await store.has(BUCKETS.supply, numberKey(number - 1)) : !isStateOf(state, header, id))
    yield `proof state after proof header ${height} is wrong`
}

const isRowOf = (row: Uint8Array, header: ProofHeader, number: number): boolean => {
  const stored = orUndefined(() => decodeProofRow(row))
  return stored?.includedIn === number && proofHeaderId(stored.header) === proofHeaderId(header)
}

const isStateOf = (row: Uint8Array, { height, anchorNumber, target, coinbase }: ProofHeader, id: Hex): boolean => {
  const state = orUndefined(() => decodeProofState(row))
  const isTip = state?.tipId === id && state.tipHeight === height && state.tipAnchor === anchorNumber
  return isTip && state.tipTarget === target && state.coinbase === coinbase
}
