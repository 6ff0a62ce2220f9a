import { constants, fstatSync, openSync, writeSync } from 'node:fs'
import { isatty } from 'node:tty'

/** Bytes that wait for the reader; a line beyond them is lost. */
const WAITING_BYTES = 1024 * 1024
const RETRY_MS = 100

/**
 * Lines of text for a descriptor, written at once. A reader that stops (a paused terminal or pager, a stalled collector of logs) does
 * not stop the process: its lines wait, up to a limit, and are lost beyond it. So are those for a reader that is gone, or a full disk.
 */
export class LogOutput {
  /** Called when the waiting lines were written, with the number of those lost meanwhile, if any. */
  onLost: (lines: number) => void = () => {}
  readonly #fd: number
  readonly #waiting: Buffer[] = []
  #waitingBytes = 0
  #lost = 0
  #timer: NodeJS.Timeout | undefined

  constructor(fd: number) {
    this.#fd = withoutWaiting(fd)
  }

  write(line: string): void {
    const bytes = Buffer.from(line)
    if (this.#waiting.length > 0 && this.#waitingBytes + bytes.byteLength > WAITING_BYTES) {
      this.#lost++
      return
    }
    const rest = this.#waiting.length === 0 ? this.#put(bytes) : bytes
    if (rest === undefined) return
    this.#waiting.push(rest)
    this.#waitingBytes += rest.byteLength
    if (this.#timer !== undefined) return
    this.#timer = setInterval(this.#retry, RETRY_MS).unref()
    process.on('exit', this.#retry)
  }

  readonly #retry = (): void => {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      const rest = this.#put(first)
      this.#waitingBytes -= first.byteLength - (rest?.byteLength ?? 0)
      if (rest === undefined) this.#waiting.shift()
      else {
        this.#waiting[0] = rest
        return
      }
    }
    process.off('exit', this.#retry)
    clearInterval(this.#timer)
    this.#timer = undefined
    const lost = this.#lost
    this.#lost = 0
    if (lost > 0) this.onLost(lost)
  }

  /** Returns the bytes that the reader did not take yet. */
  #put(bytes: Buffer): Buffer | undefined {
    try {
      const written = writeSync(this.#fd, bytes)
      return written < bytes.byteLength ? bytes.subarray(written) : undefined
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? bytes : undefined
    }
  }
}

/**
 * Returns a descriptor of the same pipe or terminal whose writes fail instead of waiting; `fd` itself where the system opens none. It is
 * opened anew: the mode of a descriptor is shared with other processes.
 */
const withoutWaiting = (fd: number): number => {
  try {
    if (!fstatSync(fd).isFIFO() && !isatty(fd)) return fd
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
  } catch {
    return fd
  }
}
