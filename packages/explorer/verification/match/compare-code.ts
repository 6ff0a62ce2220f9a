import { bytesEqual, bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import type { CodeRange, CompiledCode, LinkedLibraries } from './compiled-contract.ts'
import { metadataAtEnd, metadataRanges } from './metadata-section.ts'

/** Result of comparing code of the chain with compiled code of the same length. */
export type CodeComparison =
  | { readonly equal: true; readonly sameMetadata: boolean; readonly libraries: LinkedLibraries }
  | { readonly equal: false; readonly reason: string }

const differs = (reason: string): CodeComparison => ({ equal: false, reason })

/**
 * Compares code of the chain with compiled code: addresses of libraries and values of immutables come from the chain, the same at each of their
 * places; metadata may differ, but must be metadata.
 */
export const compareCode = (
  actual: Uint8Array,
  compiled: CompiledCode,
  metadataSections: readonly Uint8Array[],
): CodeComparison => {
  if (actual.length !== compiled.code.length)
    return differs(`the code of the chain has ${actual.length} bytes, the compiled one ${compiled.code.length}`)
  const expected = Uint8Array.from(compiled.code)
  const libraries = new Map<string, Hex>()
  for (const [name, ranges] of compiled.links) {
    const address = commonValue(actual, ranges)
    if (address === undefined) return differs(`library ${name} has more than one address in the code of the chain`)
    libraries.set(name, bytesToHex(address))
    copyRanges(actual, expected, ranges)
  }
  for (const ranges of compiled.immutables.values()) {
    if (commonValue(actual, ranges) === undefined)
      return differs('an immutable has more than one value in the code of the chain')
    copyRanges(actual, expected, ranges)
  }
  const sections = metadataRanges(compiled.code, metadataSections)
  const changed = sections.filter(range => !bytesEqual(slice(actual, range), slice(expected, range)))
  for (const range of changed)
    if (metadataAtEnd(slice(actual, range))?.size !== range.length) return differs(differsAt(range.start))
  copyRanges(actual, expected, changed)
  const place = expected.findIndex((byte, index) => byte !== actual[index])
  if (place >= 0) return differs(differsAt(place))
  return { equal: true, sameMetadata: changed.length === 0, libraries }
}

const differsAt = (place: number): string => `the compiled code differs from that of the chain at byte ${place}`

const slice = (code: Uint8Array, { start, length }: CodeRange): Uint8Array => code.subarray(start, start + length)

/** Value at every place; undefined when they differ, or when a place is outside. */
const commonValue = (code: Uint8Array, ranges: readonly CodeRange[]): Uint8Array | undefined => {
  const [first] = ranges
  if (first === undefined) return undefined
  const value = slice(code, first)
  return ranges.every(range => value.length === range.length && bytesEqual(slice(code, range), value))
    ? value
    : undefined
}

const copyRanges = (from: Uint8Array, to: Uint8Array, ranges: readonly CodeRange[]): void => {
  for (const range of ranges) to.set(slice(from, range), range.start)
}
