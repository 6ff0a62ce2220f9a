/** All events as a 64-bit fingerprint; the last ones as text on request. */
export class Trace {
  readonly #kept: number
  #lines: string[] = []
  #low = 0x811c9dc5
  #high = 0x9747b28c

  /** `lines`: number of last lines kept; 0 writes none. */
  constructor(lines: number) {
    this.#kept = lines
  }

  get lines(): readonly string[] {
    return this.#lines.slice(-this.#kept)
  }

  /** 16 hex digits. */
  get hash(): string {
    return [this.#high, this.#low].map(half => half.toString(16).padStart(8, '0')).join('')
  }

  add(value: number): void {
    // Fractions count: two runs that differ by a microsecond are different.
    const whole = Math.trunc(value)
    this.#mix(whole | 0)
    this.#mix(Math.trunc((value - whole) * 0x100000000) | 0)
  }

  bytes(bytes: Uint8Array): void {
    for (const byte of bytes) this.#mix(byte)
  }

  /** The text is made only when it is kept. */
  note(atMs: number, line: () => string): void {
    if (this.#kept === 0) return
    this.#lines.push(`${Math.round(atMs).toLocaleString('en')} ms: ${line()}`)
    if (this.#lines.length >= 2 * this.#kept) this.#lines = this.#lines.slice(-this.#kept)
  }

  #mix(word: number): void {
    this.#low = Math.imul(this.#low ^ word, 0x01000193) >>> 0
    this.#high = Math.imul(this.#high ^ (this.#low >>> 7) ^ word, 0x85ebca6b) >>> 0
  }
}
