import type { Hex } from '@tandem/base/bytes.ts'

/** Parsed options of every command on keys. */
export interface KeystoreFlags {
  readonly keystore: string
  readonly json: boolean
}

/** Parsed options of `tandem key new` and `tandem key import`. */
export interface PasswordFlags extends KeystoreFlags {
  readonly passwordFile?: string
}

/** Parsed options of `tandem key export`. */
export interface ExportFlags {
  readonly passwordFile?: string
  readonly keystore: string
  readonly reveal: boolean
}

/** Parsed options of `tandem key watermark`. */
export interface WatermarkFlags {
  readonly datadir: string
  readonly validator?: Hex
  readonly genesis?: string
  readonly json: boolean
}
