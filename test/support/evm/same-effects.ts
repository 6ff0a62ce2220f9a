import type { EngineFailure, EngineResult } from '../../../src/evm/engine.ts'
import type { StateChanges } from '../../../src/state/update/state-update.ts'
import { type Effects, effectsText } from './compare.ts'

/*
 * Equality of what two engines did with a message, without writing it as text: true only where the texts are equal. Texts are compared
 * where this is in doubt, so that they alone decide about a difference.
 */

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean => a.byteLength === b.byteLength && Buffer.compare(a, b) === 0

const sameLists = <Item>(a: readonly Item[], b: readonly Item[], same: (a: Item, b: Item) => boolean): boolean =>
  a.length === b.length && a.every((item, i) => same(item, b[i] as Item))

const sameMaps = <Value>(
  a: ReadonlyMap<string, Value>,
  b: ReadonlyMap<string, Value>,
  same: (a: Value, b: Value) => boolean,
): boolean => {
  if (a.size !== b.size) return false
  for (const [key, value] of a) {
    const other = b.get(key)
    if (other === undefined || !same(value, other)) return false
  }
  return true
}

const sameSets = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
  a.size === b.size && [...a].every(item => b.has(item))

const reasonOf = (failure: EngineFailure | null): string | undefined =>
  failure === null ? undefined : failure.kind === 'halt' ? failure.reason : 'reverted'

const identical = <Item>(a: Item, b: Item): boolean => a === b
const none: ReadonlySet<string> = new Set()

const sameResults = (a: EngineResult, b: EngineResult): boolean =>
  a.gasUsed === b.gasUsed &&
  a.refund === b.refund &&
  a.created === b.created &&
  reasonOf(a.failure) === reasonOf(b.failure) &&
  sameBytes(a.output, b.output) &&
  sameSets(new Set(a.destroyed), new Set(b.destroyed)) &&
  sameLists(
    a.logs,
    b.logs,
    (x, y) => x.address === y.address && sameLists(x.topics, y.topics, identical) && sameBytes(x.data, y.data),
  ) &&
  sameLists(
    a.internal ?? [],
    b.internal ?? [],
    (x, y) => x.kind === y.kind && x.from === y.from && x.to === y.to && x.value === y.value,
  )

const sameChanges = (a: StateChanges, b: StateChanges): boolean =>
  sameMaps(a.accounts, b.accounts, ({ after: x }, { after: y }) =>
    x === undefined || y === undefined
      ? x === y
      : x.nonce === y.nonce && x.balance === y.balance && x.codeHash === y.codeHash,
  ) &&
  sameMaps(a.storage, b.storage, (x, y) => sameMaps(x, y, (before, after) => before.after === after.after)) &&
  sameMaps(a.code, b.code, sameBytes) &&
  sameSets(a.cleared ?? none, b.cleared ?? none)

export const sameEffects = (a: Effects, b: Effects): boolean =>
  (a.result !== undefined &&
    b.result !== undefined &&
    sameResults(a.result, b.result) &&
    sameChanges(a.changes, b.changes)) ||
  effectsText(a) === effectsText(b)
