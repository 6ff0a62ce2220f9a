import type { Hex } from '@tandem/base/bytes.ts'

export interface CodeRange {
  readonly start: number
  readonly length: number
}

/** Code as compiled, with zeros where libraries and immutables come. */
export interface CompiledCode {
  readonly code: Uint8Array
  /** Places of the address of each library, by `file:name`. */
  readonly links: ReadonlyMap<string, readonly CodeRange[]>
  /** Places of the value of each immutable, by its id. */
  readonly immutables: ReadonlyMap<string, readonly CodeRange[]>
}

export interface CompiledContract {
  readonly path: string
  readonly name: string
  readonly abi: readonly unknown[]
  readonly metadata: string
  readonly creation: CompiledCode
  readonly runtime: CompiledCode
  /** Metadata that the code contains, that of contracts it creates included. */
  readonly metadataSections: readonly Uint8Array[]
}

/** Equal with the hash of the metadata; equal but for it. */
export type MatchKind = 'exact' | 'partial'

/** Addresses by `file:name`. */
export type LinkedLibraries = ReadonlyMap<string, Hex>
