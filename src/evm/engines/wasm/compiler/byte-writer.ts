/** Growing byte buffer with the integer encodings of WebAssembly. */
export class ByteWriter {
  #bytes = new Uint8Array(512)
  length = 0

  byte(value: number): void {
    if (this.length === this.#bytes.length) this.#grow(1)
    this.#bytes[this.length++] = value
  }

  append(bytes: ArrayLike<number>): void {
    if (this.length + bytes.length > this.#bytes.length) this.#grow(bytes.length)
    this.#bytes.set(bytes, this.length)
    this.length += bytes.length
  }

  #grow(missing: number): void {
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.length + missing))
    larger.set(this.#bytes)
    this.#bytes = larger
  }

  /** LEB128 of an unsigned number below 2^32. */
  unsigned(value: number): void {
    let rest = value
    while (rest >= 0x80) {
      this.byte((rest % 0x80) | 0x80)
      rest = Math.floor(rest / 0x80)
    }
    this.byte(rest)
  }

  /** Signed LEB128 of a 32-bit number. */
  signed(value: number): void {
    let rest = value
    for (;;) {
      const low = rest & 0x7f
      rest >>= 7
      if ((rest === 0 && (low & 0x40) === 0) || (rest === -1 && (low & 0x40) !== 0)) {
        this.byte(low)
        return
      }
      this.byte(low | 0x80)
    }
  }

  /** Signed LEB128 of a 64-bit number. */
  signed64(value: bigint): void {
    let rest = BigInt.asIntN(64, value)
    if (rest >= -0x4000_0000n && rest < 0x4000_0000n) {
      this.signed(Number(rest))
      return
    }
    for (;;) {
      const low = Number(rest & 0x7fn)
      rest >>= 7n
      if ((rest === 0n && (low & 0x40) === 0) || (rest === -1n && (low & 0x40) !== 0)) {
        this.byte(low)
        return
      }
      this.byte(low | 0x80)
    }
  }

  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.length)
  }
}
