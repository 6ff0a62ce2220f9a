import { RLP } from '@ethereumjs/rlp'
import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'

/** The fields up to the state root as a header has them, and some after. */
export const fakeHeader = (stateRoot: Hex): Uint8Array =>
  RLP.encode([new Uint8Array(32), new Uint8Array(32), new Uint8Array(20), hexToBytes(stateRoot), new Uint8Array(600)])
