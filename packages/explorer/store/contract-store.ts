import type { Hex } from '@tandem/base/bytes.ts'

/** A contract whose source code is known to be what its code was compiled from. */
export interface VerifiedContract {
  readonly address: Hex
  /** Hash of the code that was compared: another code at the address is not verified. */
  readonly codeHash: Hex
  /** Transaction that created it: the same code created anew is not verified. null: not known; absent in older records. */
  readonly creationTransaction?: Hex | null
  readonly match: 'exact' | 'partial'
  /** `different`: the creation is known and was not made from this source; null: it is not known. */
  readonly creationMatch: 'exact' | 'partial' | 'different' | null
  readonly runtimeMatch: 'exact' | 'partial'
  readonly path: string
  readonly name: string
  /** Long version, without v. */
  readonly compiler: string
  /** Standard JSON input that matched. */
  readonly input: string
  /** JSON. */
  readonly abi: string
  /** As the compiler wrote it. */
  readonly metadata: string
  /** null: the creation is not known, or has other code. */
  readonly constructorArguments: Hex | null
  readonly libraries: Readonly<Record<string, Hex>>
  readonly license: string | null
  /** Unix seconds. */
  readonly verifiedAt: number
}

/** Verified contracts. They cannot be read from the chain again, and so stay when the index is emptied. */
export interface ContractStore {
  contract(address: Hex): Promise<VerifiedContract | undefined>
  /** Name of a verified contract; undefined: it is not verified. */
  contractName(address: Hex): Promise<string | undefined>
  contractCount(): Promise<number>
  /** Replaces what is stored for the address. */
  writeContract(contract: VerifiedContract): Promise<void>
  close(): Promise<void>
}
