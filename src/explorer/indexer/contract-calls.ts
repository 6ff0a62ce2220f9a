import type { Hex } from '@tandem/base/bytes.ts'

/** Result of a call to a contract; undefined when it fails, or takes too much gas, time or bytes. Never throws because of the contract. */
export type ContractCall = (to: Hex, data: Uint8Array) => Promise<Uint8Array | undefined>
