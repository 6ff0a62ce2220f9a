import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { createRandom } from '@tandem/base/random.ts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { eventually, sleep } from '../../support/node-process.ts'
import { Direction, PLAIN_LINE, Timetable } from '../../support/wires/direction.ts'
import { Wires } from '../../support/wires/wires.ts'

describe('the timetable of a line', () => {
  const arrivals = (line: object, sent: readonly (readonly [number, number])[], seed = 1): readonly number[] => {
    const table = new Timetable(new Direction({ ...PLAIN_LINE, ...line }, createRandom(seed)))
    return sent.map(([atMs, bytes]) => table.arrivalMs(atMs, bytes))
  }

  test('adds latency, and what the width of the line takes', () => {
    expect(
      arrivals({ latencyMs: 20 }, [
        [0, 10],
        [5, 10],
      ]),
    ).toEqual([20, 25])
    expect(
      arrivals({ latencyMs: 20, bytesPerMs: 10 }, [
        [0, 100],
        [0, 100],
        [100, 10],
      ]),
    ).toEqual([30, 40, 121])
  })

  test('jitter stays within its bound, in order, and comes from the seed', () => {
    const sent = Array.from({ length: 200 }, (_, at) => [at, 1] as const)
    const times = arrivals({ latencyMs: 10, jitterMs: 30 }, sent)
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    times.forEach((time, at) => {
      expect(time).toBeGreaterThanOrEqual(at + 10)
      expect(time).toBeLessThan(at + 40)
    })
    expect(arrivals({ latencyMs: 10, jitterMs: 30 }, sent)).toEqual(times)
    expect(arrivals({ latencyMs: 10, jitterMs: 30 }, sent, 2)).not.toEqual(times)
  })

  test('a lost piece holds up all behind it', () => {
    const sent = Array.from({ length: 500 }, (_, at) => [at, 1] as const)
    const times = arrivals({ stallChance: 0.02, stallMs: 200 }, sent)
    const late = times.filter((time, at) => time > at)
    expect(times.some((time, at) => time === at + 200)).toBe(true)
    expect(late.length).toBeGreaterThan(200)
    expect(times).toEqual(times.toSorted((a, b) => a - b))
  })
})

describe('wires', () => {
  let echo: Server
  let wires: Wires
  const sockets: Socket[] = []

  const listen = async (): Promise<number> => {
    echo = createServer(socket => {
      sockets.push(socket)
      socket.on('error', () => {})
      socket.pipe(socket)
    })
    echo.listen(0, '127.0.0.1')
    await once(echo, 'listening')
    return (echo.address() as { port: number }).port
  }

  const dial = async (port: number): Promise<{ socket: Socket; heard: () => string }> => {
    const socket = connect({ port, host: '127.0.0.1' })
    let heard = ''
    socket.on('data', data => (heard += data.toString()))
    socket.on('error', () => {})
    await once(socket, 'connect')
    sockets.push(socket)
    return { socket, heard: () => heard }
  }

  const hears = ({ heard }: { heard: () => string }, text: string) =>
    eventually(`"${text}"`, async () => (heard() === text ? true : undefined), { everyMs: 1 })

  beforeEach(() => {
    wires = new Wires(createRandom(1))
  })
  afterEach(() => {
    wires.close()
    for (const socket of sockets.splice(0)) socket.destroy()
    echo.close()
  })

  test('deliver bytes after the latency, both ways, and the end of the connection', async () => {
    const link = await dial(await wires.between('a', 'b', await listen()))
    wires.set('a', 'b', { latencyMs: 60 })
    wires.set('b', 'a', { latencyMs: 30 })
    const began = performance.now()
    link.socket.write('there and back')
    await hears(link, 'there and back')
    expect(performance.now() - began).toBeGreaterThanOrEqual(88)
    const closed = once(link.socket, 'close')
    sockets.find(socket => socket !== link.socket)?.destroy()
    await closed
  })

  test('a cut holds everything, in one direction only if wanted, and loses nothing', async () => {
    const link = await dial(await wires.between('a', 'b', await listen()))
    link.socket.write('1')
    await hears(link, '1')
    wires.cutOneWay('b', 'a')
    link.socket.write('2')
    await sleep(100)
    expect(link.heard()).toBe('1')
    wires.heal()
    await hears(link, '12')
    wires.partition(['a'], ['b', 'c'])
    link.socket.write('3')
    // A node that is cut off does not even notice that the other end closed.
    for (const socket of sockets) if (socket !== link.socket) socket.destroy()
    await sleep(100)
    expect(link.heard()).toBe('12')
    expect(link.socket.closed).toBe(false)
    const closed = once(link.socket, 'close')
    wires.heal()
    await closed
  })

  test('who gave up while the line was cut never arrives', async () => {
    const port = await wires.between('a', 'b', await listen())
    wires.cut('a', 'b')
    const link = await dial(port)
    link.socket.write('hello')
    await sleep(30)
    link.socket.destroy()
    await sleep(30)
    wires.heal()
    await sleep(50)
    expect(sockets).toEqual([link.socket])
  })

  test('a line without a receiver ends', async () => {
    await listen()
    const { port } = echo.address() as { port: number }
    echo.close()
    const link = await dial(await wires.between('a', 'b', port))
    const closed = once(link.socket, 'close')
    link.socket.write('anybody?')
    await closed
  })
})
