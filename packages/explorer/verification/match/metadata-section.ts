import type { CodeRange } from './compiled-contract.ts'

/** Metadata that solc appends to code: a CBOR map and its length in two bytes. */
interface CodeMetadata {
  /** Bytes with the length. */
  readonly size: number
  /** As `0.8.28`; undefined when the map has none. */
  readonly compiler: string | undefined
  /** Does the map hold a hash of the sources? */
  readonly hasHash: boolean
}

const LENGTH_BYTES = 2
const HASH_KEYS = new Set(['ipfs', 'bzzr0', 'bzzr1'])

/** Reads the metadata at the end of code; undefined when there is none. */
export const metadataAtEnd = (code: Uint8Array): CodeMetadata | undefined => {
  if (code.length < LENGTH_BYTES) return undefined
  const length = (code[code.length - 2] as number) * 256 + (code[code.length - 1] as number)
  const start = code.length - LENGTH_BYTES - length
  if (start < 0) return undefined
  const entries = readMap(code.subarray(start, start + length))
  if (entries === undefined || !(entries.has('solc') || [...HASH_KEYS].some(key => entries.has(key)))) return undefined
  return {
    size: length + LENGTH_BYTES,
    compiler: versionOf(entries.get('solc')),
    hasHash: [...HASH_KEYS].some(key => entries.has(key)),
  }
}

const versionOf = (value: Uint8Array | undefined): string | undefined =>
  value?.length === 3 ? value.join('.') : undefined

const CBOR_UNSIGNED = 0
const CBOR_BYTES = 2
const CBOR_TEXT = 3
const CBOR_MAP = 5
const CBOR_SIMPLE = 7

/** Entries of a CBOR map of texts to short strings or flags; undefined for everything else, and for bytes left over. */
const readMap = (bytes: Uint8Array): ReadonlyMap<string, Uint8Array> | undefined => {
  const entries = new Map<string, Uint8Array>()
  const first = bytes[0] ?? 0
  if (first >> 5 !== CBOR_MAP || (first & 31) > 23) return undefined
  let at = 1
  const item = (): { readonly kind: number; readonly value: Uint8Array } | undefined => {
    const head = bytes[at++]
    if (head === undefined) return undefined
    const kind = head >> 5
    let length = head & 31
    if (length === 24 && kind !== CBOR_SIMPLE) length = bytes[at++] ?? bytes.length
    else if (length > 23) return undefined
    if (kind === CBOR_SIMPLE || kind === CBOR_UNSIGNED) return { kind, value: Uint8Array.of(length) }
    if ((kind !== CBOR_BYTES && kind !== CBOR_TEXT) || at + length > bytes.length) return undefined
    at += length
    return { kind, value: bytes.subarray(at - length, at) }
  }
  for (let left = first & 31; left > 0; left--) {
    const key = item()
    const value = item()
    if (key?.kind !== CBOR_TEXT || value === undefined) return undefined
    entries.set(new TextDecoder().decode(key.value), value.value)
  }
  return at === bytes.length ? entries : undefined
}

/** Places of metadata in compiled code, wherever it stands. */
export const metadataRanges = (code: Uint8Array, sections: readonly Uint8Array[]): readonly CodeRange[] => {
  const buffer = Buffer.from(code.buffer, code.byteOffset, code.byteLength)
  return sections.flatMap(section => {
    const ranges: CodeRange[] = []
    if (metadataAtEnd(section) === undefined) return ranges
    for (let at = buffer.indexOf(section); at >= 0; at = buffer.indexOf(section, at + section.length))
      ranges.push({ start: at, length: section.length })
    return ranges
  })
}
