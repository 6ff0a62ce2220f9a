/** Cost of one Argon2id hash of the proof chain: 4 MiB, one pass, one lane (docs/design/proof-chain.md). */
export const ARGON2 = { memoryKib: 4096, passes: 1, lanes: 1, hashBytes: 32 } as const

/** Cost parameters of a known answer that differ from those of the proof chain. */
export interface Argon2Cost {
  readonly memoryKib: number
  readonly passes: number
  readonly lanes: number
  readonly hashBytes: number
}

/** Argon2id version 0x13 (RFC 9106). */
export interface Argon2Provider {
  readonly name: 'node:crypto' | '@node-rs/argon2' | 'hash-wasm' | 'noble-js'
  /** true: the hash is computed in a separate thread, so the calling one stays free. */
  readonly threaded: boolean
  hash(message: Uint8Array, salt: Uint8Array, cost?: Argon2Cost): Promise<Uint8Array>
  /** The hash at the cost of the proof chain, computed on the calling thread. */
  hashSync?(message: Uint8Array, salt: Uint8Array): Uint8Array
}
