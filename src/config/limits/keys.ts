/* Key files, passwords and typed data to sign. Units are in the names. */

/** Typed data to sign (EIP-712): its JSON, its declared types, and the nesting of a message. */
export const TYPED_DATA_LIMITS = { jsonBytes: 128 * 1024, types: 64, depth: 32 } as const

/** Key files and their passwords: sizes, and the cost of decrypting a keystore. */
export const KEY_LIMITS = {
  fileBytes: 64 * 1024,
  passwordBytes: 4_096,
  scryptBytes: 512 * 1024 * 1024,
  /** n x r x p; the usual file has 2^21, which takes about a second. */
  scryptWork: 2 ** 23,
  /** Rounds per 32 derived bytes; 10 million take some seconds. */
  pbkdf2Rounds: 10_000_000,
  /** Files in a keystore folder. */
  files: 1_000,
  /** Signing record: its size, validators, and positions of each. */
  recordBytes: 1024 * 1024,
  recordSigners: 256,
  recordPositions: 4_096,
} as const
