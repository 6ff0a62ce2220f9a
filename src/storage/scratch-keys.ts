/**
 * Prefixed keys without an allocation each: one reused array per length. LevelDB copies the key inside the call, so
 * these are for synchronous calls only; an asynchronous call must own its key.
 */
export class ScratchKeys {
  readonly #byLength: Uint8Array[] = []

  of(bucket: number, key: Uint8Array): Uint8Array {
    const length = key.byteLength + 1
    let scratch = this.#byLength[length]
    if (scratch === undefined) {
      scratch = new Uint8Array(length)
      // Keys are short; a long one is not cached.
      if (length <= 128) this.#byLength[length] = scratch
    }
    scratch[0] = bucket
    scratch.set(key, 1)
    return scratch
  }
}

/** Returns a prefixed key in a new array. */
export const prefixedKey = (bucket: number, key: Uint8Array): Uint8Array => {
  const out = new Uint8Array(key.byteLength + 1)
  out[0] = bucket
  out.set(key, 1)
  return out
}
