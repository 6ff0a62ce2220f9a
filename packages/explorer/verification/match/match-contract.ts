import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { constructorTypes } from '../abi/abi-types.ts'
import { isCanonical } from '../abi/abi-values.ts'
import { type CodeComparison, compareCode } from './compare-code.ts'
import type { CompiledCode, CompiledContract, LinkedLibraries, MatchKind } from './compiled-contract.ts'
import { metadataAtEnd } from './metadata-section.ts'

/** Contract as the chain has it. */
export interface DeployedContract {
  readonly address: Hex
  readonly runtime: Uint8Array
  /** Data of the transaction that created it; undefined when another contract did. */
  readonly creation: Uint8Array | undefined
}

export type ContractMatch =
  | {
      readonly matches: true
      readonly kind: MatchKind
      /** null: the creation is not known. */
      readonly creation: MatchKind | 'different' | null
      readonly runtime: MatchKind
      /** undefined when the creation is not known. */
      readonly constructorArguments: Uint8Array | undefined
      readonly libraries: LinkedLibraries
    }
  | { readonly matches: false; readonly reason: string }

/** Compares a contract of the chain with a compiled one. */
export const matchContract = (deployed: DeployedContract, compiled: CompiledContract): ContractMatch => {
  const runtime = matchRuntime(deployed, compiled)
  if (!runtime.equal) return { matches: false, reason: runtime.reason }
  const hasHash = metadataAtEnd(deployed.runtime)?.hasHash === true
  const kindOf = ({ sameMetadata }: { readonly sameMetadata: boolean }): MatchKind =>
    sameMetadata && hasHash ? 'exact' : 'partial'
  const creation = deployed.creation && matchCreation(deployed.creation, compiled, runtime.libraries)
  const unmatched = deployed.creation === undefined ? null : 'different'
  return {
    matches: true,
    // Equal code whose creation is another one was not made from these sources alone.
    kind: deployed.creation !== undefined && creation === undefined ? 'partial' : kindOf(runtime),
    creation: creation ? kindOf(creation) : unmatched,
    runtime: kindOf(runtime),
    constructorArguments: creation?.constructorArguments,
    libraries: runtime.libraries,
  }
}

const matchRuntime = ({ address, runtime }: DeployedContract, compiled: CompiledContract): CodeComparison => {
  const expected = withOwnAddress(compiled.runtime, address)
  const found = metadataAtEnd(runtime)
  const wanted = metadataAtEnd(expected.code)
  // Two compilers may write the same code; it still names its own.
  if (found?.compiler !== undefined && wanted?.compiler !== undefined && found.compiler !== wanted.compiler)
    return { equal: false, reason: `the code of the chain is of compiler ${found.compiler}, not ${wanted.compiler}` }
  const comparison = compareCode(runtime, expected, compiled.metadataSections)
  if (comparison.equal || found?.size === wanted?.size) return comparison
  // Metadata of another length at the end, with another setting for its hash.
  const body = compareCode(
    runtime.subarray(0, runtime.length - (found?.size ?? 0)),
    { ...expected, code: expected.code.subarray(0, expected.code.length - (wanted?.size ?? 0)) },
    compiled.metadataSections,
  )
  return body.equal ? { ...body, sameMetadata: false } : comparison
}

const PUSH20 = 0x73
/** ADDRESS EQ */
const OWN_ADDRESS_CHECK = [0x30, 0x14]
const ADDRESS_BYTES = 20

/** A library's code starts with a comparison with its own address, which is known only once it is deployed. */
const withOwnAddress = (compiled: CompiledCode, address: Hex): CompiledCode => {
  const { code } = compiled
  const end = 1 + ADDRESS_BYTES
  const isLibrary =
    code[0] === PUSH20 &&
    code.subarray(1, end).every(byte => byte === 0) &&
    OWN_ADDRESS_CHECK.every((byte, index) => code[end + index] === byte)
  if (!isLibrary) return compiled
  const placed = Uint8Array.from(code)
  placed.set(hexToBytes(address), 1)
  return { ...compiled, code: placed }
}

/** Compares the creation; constructor arguments are the bytes after the compiled code. undefined: it is another one. */
const matchCreation = (
  input: Uint8Array,
  { creation, metadataSections, abi }: CompiledContract,
  libraries: LinkedLibraries,
): { readonly sameMetadata: boolean; readonly constructorArguments: Uint8Array } | undefined => {
  const { length } = creation.code
  if (input.length < length) return undefined
  const comparison = compareCode(input.subarray(0, length), creation, metadataSections)
  if (!comparison.equal) return undefined
  for (const [name, address] of comparison.libraries) if ((libraries.get(name) ?? address) !== address) return undefined
  const constructorArguments = input.subarray(length)
  const types = constructorTypes(abi)
  if (types === undefined || !isCanonical(types, constructorArguments)) return undefined
  return { sameMetadata: comparison.sameMetadata, constructorArguments }
}
