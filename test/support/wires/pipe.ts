import type { Socket } from 'node:net'
import { type Direction, Timetable } from './direction.ts'

/** On the way in one direction; beyond this the sender has to wait, as with full buffers. */
const HELD_BYTES = 4 * 1024 * 1024

interface Piece {
  readonly atMs: number
  /** null: the end of the stream. */
  readonly bytes: Buffer | null
}

/**
 * Carries what one socket receives to another one, late. While the direction is cut everything waits, the end of the stream too: the
 * other side learns nothing, not even that the connection is gone.
 */
export class Pipe {
  readonly #source: Socket
  readonly #direction: Direction
  /** Opened with the first piece that arrives; undefined: nobody is there any more. */
  readonly #target: () => Socket | undefined
  readonly #timetable: Timetable
  readonly #onOver: (pipe: Pipe) => void
  readonly #forget: () => void
  readonly #held: Piece[] = []
  #heldBytes = 0
  #timer: NodeJS.Timeout | undefined

  /** `onOver`: all has arrived, the end too. */
  constructor(source: Socket, direction: Direction, target: () => Socket | undefined, onOver: (pipe: Pipe) => void) {
    this.#source = source
    this.#direction = direction
    this.#target = target
    this.#onOver = onOver
    this.#timetable = new Timetable(direction)
    this.#forget = direction.onHealed(() => this.#wake())
    source.on('data', (bytes: Buffer) => this.#hold(bytes))
    source.on('close', () => this.#hold(null))
    // Its close says all there is to know.
    source.on('error', () => {})
  }

  /** Nothing arrives any more. */
  close(): void {
    clearTimeout(this.#timer)
    this.#forget()
    this.#held.length = 0
    this.#source.destroy()
  }

  #hold(bytes: Buffer | null): void {
    this.#held.push({ atMs: this.#timetable.arrivalMs(performance.now(), bytes?.byteLength ?? 0), bytes })
    this.#heldBytes += bytes?.byteLength ?? 0
    if (this.#heldBytes > HELD_BYTES) this.#source.pause()
    if (this.#held.length === 1) this.#wake()
  }

  #wake(): void {
    clearTimeout(this.#timer)
    const [next] = this.#held
    if (next === undefined || this.#direction.isCut) return
    this.#timer = setTimeout(() => this.#arrive(), Math.max(0, next.atMs - performance.now()))
  }

  #arrive(): void {
    const nowMs = performance.now()
    while (!this.#direction.isCut && (this.#held[0]?.atMs ?? Number.POSITIVE_INFINITY) <= nowMs) {
      const { bytes } = this.#held.shift() as Piece
      if (bytes === null) {
        this.#target()?.destroySoon()
        this.close()
        this.#onOver(this)
        return
      }
      this.#target()?.write(bytes)
      this.#heldBytes -= bytes.byteLength
    }
    if (this.#heldBytes <= HELD_BYTES) this.#source.resume()
    this.#wake()
  }
}
