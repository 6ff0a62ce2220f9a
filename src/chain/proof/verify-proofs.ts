import { bytesToHex, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import { decodeProofHeader, type ProofHeader, proofHeaderId } from '../../primitives/proof-header.ts'
import { decodeProofState } from '../../rules/proof/proof-state.ts'
import { BUCKETS } from '../../storage/buckets.ts'
import { numberKey, readNumber } from '../../storage/keys.ts'
import type { Store } from '../../storage/store.ts'
import type { BlockStore } from '../store/block-store.ts'
import { decodeProofRow } from './proof-rows.ts'

/** Fault of the stored proof chain, and the main block where it was found. */
interface ProofProblem {
  readonly number: number
  readonly problem: string
}

/**
 * Yields the faults of a store's proof chain: the tip of each block must follow from the headers in its body, each header must reference
 * the previous one and its main block, the rows for validating later blocks must exist, and no row may lack a header.
 */
export async function* verifyProofs(
  store: Store,
  blocks: BlockStore,
  { first, head }: { readonly first: number; readonly head: number },
): AsyncGenerator<ProofProblem> {
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
      const header = readableHeader(bytes)
      tip = header && proofHeaderId(header)
      height = header?.height
    }
    const { proofTip } = block.extra
    if (tip !== undefined && proofTip !== tip)
      yield { number, problem: `proof tip is ${proofTip}, its proof headers lead to ${tip}` }
    tip = proofTip
  }
  yield* verifyRows(store, { head, height: height ?? Number.MAX_SAFE_INTEGER })
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

const readableHeader = (bytes: Uint8Array): ProofHeader | undefined => {
  try {
    return decodeProofHeader(bytes)
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
  const header = readableHeader(bytes)
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
  try {
    const stored = decodeProofRow(row)
    return stored.includedIn === number && proofHeaderId(stored.header) === proofHeaderId(header)
  } catch {
    return false
  }
}

const isStateOf = (row: Uint8Array, { height, anchorNumber, target, coinbase }: ProofHeader, id: Hex): boolean => {
  try {
    const { tipId, tipHeight, tipAnchor, tipTarget, coinbase: payee } = decodeProofState(row)
    return (
      tipId === id && tipHeight === height && tipAnchor === anchorNumber && tipTarget === target && payee === coinbase
    )
  } catch {
    return false
  }
}

/** Checks for rows above the last header of a complete chain. */
async function* verifyRows(
  store: Store,
  { head, height }: { readonly head: number; readonly height: number },
): AsyncGenerator<ProofProblem> {
  for await (const [key] of store.entries(BUCKETS.proofHeight)) {
    const found = readNumber(key)
    if (found > height) yield { number: head, problem: `proof height ${found} is in no block` }
  }
}
