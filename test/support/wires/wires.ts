import { connect, createServer, type Server, type Socket } from 'node:net'
import type { Random } from '@tandem/base/random.ts'
import { Direction, type Line, PLAIN_LINE } from './direction.ts'
import { Pipe } from './pipe.ts'

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
  #line: Line

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

  /** All lines, those to come too. */
  setAll(line: Partial<Line>): void {
    this.#line = { ...this.#line, ...line }
    for (const direction of this.#directions.values()) direction.line = { ...direction.line, ...line }
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
