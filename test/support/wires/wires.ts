import { connect, createServer, type Server, type Socket } from 'node:net'
import type { Random } from '@tandem/base/random.ts'
import { Direction, type Line, PLAIN_LINE, Timetable } from './direction.ts'

const HOST = '127.0.0.1'

/**
 * Every connection among some nodes, through lines of our own: late, narrow, stuttering or cut, in each direction by itself. A node
 * dials another at the port of that pair, so that each line knows whose it is.
 */
export class Wires {
  readonly #random: Random
  readonly #directions = new Map<string, Direction>()
  readonly #servers: Server[] = []
  readonly #pipes = new Set<Pipe>()
  readonly #line: Line

  constructor(random: Random, line: Partial<Line> = {}) {
    this.#random = random
    this.#line = { ...PLAIN_LINE, ...line }
  }

  /** Answers the port at which `from` finds `to`, which listens at `targetPort`. */
  async between(from: string, to: string, targetPort: number): Promise<number> {
    const server = createServer(socket => this.#join(socket, from, to, targetPort))
    this.#servers.push(server)
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(0, HOST, resolve)
    })
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('the line has no port')
    return address.port
  }

  /** One direction. */
  set(from: string, to: string, line: Partial<Line>): void {
    const direction = this.#direction(from, to)
    direction.line = { ...direction.line, ...line }
  }

  /** Nothing gets from one to the other; the other way stays as it is. */
  cutOneWay(from: string, to: string): void {
    this.#direction(from, to).cut()
  }

  cut(one: string, other: string): void {
    this.cutOneWay(one, other)
    this.cutOneWay(other, one)
  }

  /** Nothing passes between nodes of different groups. */
  partition(...groups: readonly (readonly string[])[]): void {
    for (const [at, group] of groups.entries())
      for (const others of groups.slice(at + 1))
        for (const one of group) for (const other of others) this.cut(one, other)
  }

  /** Every cut ends; what was held goes on. */
  heal(): void {
    for (const direction of this.#directions.values()) direction.heal()
  }

  close(): void {
    for (const server of this.#servers) server.close()
    for (const pipe of this.#pipes) pipe.close()
  }

  #direction(from: string, to: string): Direction {
    const name = `${from} ${to}`
    const known = this.#directions.get(name)
    if (known !== undefined) return known
    const made = new Direction(this.#line, this.#random)
    this.#directions.set(name, made)
    return made
  }

  #join(near: Socket, from: string, to: string, port: number): void {
    let far: Socket | undefined
    near.setNoDelay(true)
    this.#pipe(near, from, to, () => {
      // A dialer that gave up while the line was cut never gets through.
      if (far !== undefined || near.destroyed) return far
      far = connect({ host: HOST, port, noDelay: true })
      this.#pipe(far, to, from, () => near)
      return far
    })
  }

  #pipe(source: Socket, from: string, to: string, target: () => Socket | undefined): void {
    this.#pipes.add(new Pipe(source, this.#direction(from, to), target, pipe => this.#pipes.delete(pipe)))
  }
}

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
class Pipe {
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
