import type { Hex } from '../util/bytes.ts'

export interface Log {
  readonly address: Hex
  readonly topics: readonly Hex[]
  readonly data: Uint8Array
}
