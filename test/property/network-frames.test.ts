import { bytesEqual, concatBytes } from '@tandem/base/bytes.ts'
import { isCoded } from '@tandem/base/errors.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Records } from '../../src/network/transport/secure-channel.ts'
import { CHANNEL_NAMES, CHANNELS, type ChannelName } from '../../src/network/wire/channels.ts'
import { FrameReader, type FrameSink } from '../../src/network/wire/frame-reader.ts'
import { encodeFrames, FRAGMENT_BYTES, type MessageHead, type WireMessage } from '../../src/network/wire/frames.ts'
import { SendQueue } from '../../src/network/wire/send-queue.ts'
import { framesOf } from '../support/network/frames.ts'
import { SEED } from '../support/seed.ts'

const run = <T>(arbitrary: fc.Arbitrary<T>, check: (value: T) => unknown, numRuns = 100) =>
  fc.assert(
    fc.property(arbitrary, value => void check(value)),
    { seed: SEED, numRuns },
  )

interface Sent {
  readonly channel: ChannelName
  readonly id: number
  readonly requestId: number
  /** Of the payload, whose bytes follow from the id. */
  readonly size: number
}

/** Near the borders of a frame. */
const size = fc.oneof(
  fc.nat(40),
  fc.constantFrom(...[-10, -9, -8, 0, 1].flatMap(by => [FRAGMENT_BYTES + by, 2 * FRAGMENT_BYTES + by])),
)
const sent: fc.Arbitrary<Sent> = fc.record({
  channel: fc.constantFrom(...CHANNEL_NAMES),
  id: fc.nat(255),
  requestId: fc.nat(0xffffffff),
  size,
})
const several = fc.array(sent, { maxLength: 8 })
const PATTERN = new Uint8Array(4 * FRAGMENT_BYTES).map((_, at) => (at * 31 + (at >> 8)) & 255)
const payloadOf = (id: number, bytes: number) => PATTERN.subarray(id, id + bytes)
const wireOf = ({ channel, id, requestId, size: bytes }: Sent): WireMessage =>
  encodeFrames(channel, id, requestId, payloadOf(id, bytes))

const collector = (skip: (head: MessageHead) => boolean = () => false, isChecked = true) => {
  const got: Sent[] = []
  let held = 0
  const sink: FrameSink = {
    begin: (_, head) => {
      if (skip(head)) return 'skip'
      held++
      return 'take'
    },
    deliver: (channel, { id, requestId }, payload) => {
      held--
      if (isChecked) expect(bytesEqual(payload, payloadOf(id, payload.byteLength))).toBe(true)
      got.push({ channel, id, requestId, size: payload.byteLength })
    },
    abandon: () => {
      held--
    },
  }
  return { got, sink, held: () => held }
}

const inPieces = (bytes: Uint8Array, cuts: readonly number[]): readonly Uint8Array[] => {
  const ends = [...new Set(cuts.map(cut => cut % (bytes.byteLength + 1)))].sort((a, b) => a - b)
  return [...ends, bytes.byteLength].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
}

/** All frames that wait, in the order in which they are sent. */
const drain = (queue: SendQueue): readonly Uint8Array[] => {
  const frames: Uint8Array[] = []
  for (let frame = queue.next(); frame !== undefined; frame = queue.next()) frames.push(frame)
  return frames
}

const byChannel = (messages: readonly Sent[]) =>
  Object.fromEntries(CHANNEL_NAMES.map(name => [name, messages.filter(({ channel }) => channel === name)]))

const twoEnds = (): readonly [Records, Records] => {
  const [one, other] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]
  return [new Records(one, other), new Records(other, one)]
}

describe('frames', () => {
  test('arrive as they were sent, however the bytes are cut', () => {
    run(fc.tuple(several, fc.array(fc.nat(), { maxLength: 12 })), ([messages, cuts]) => {
      const { got, sink } = collector()
      const reader = new FrameReader(sink)
      const [sender, receiver] = twoEnds()
      const frames = framesOf(concatBytes(...messages.map(message => wireOf(message).bytes)))
      for (const piece of inPieces(concatBytes(...frames.map(frame => sender.seal(frame))), cuts))
        receiver.push(piece, 0, frame => reader.push(frame, 0))
      expect(got).toEqual(messages)
      expect(reader.deadlineMs).toBeUndefined()
      expect(receiver.unfinishedSinceMs).toBeNull()
    })
  })

  test('of different channels may alternate; each channel keeps its order', () => {
    run(fc.tuple(several, several), ([first, second]) => {
      const queue = new SendQueue()
      const { got, sink } = collector()
      const reader = new FrameReader(sink)
      // A message that a full queue refuses does not arrive.
      const push = (messages: readonly Sent[]) => messages.filter(message => queue.push(wireOf(message)) === 'queued')
      const early = push(first)
      const started = queue.next()
      if (started !== undefined) reader.push(started, 0)
      const late = push(second)
      for (const frame of drain(queue)) reader.push(frame, 0)
      expect(byChannel(got)).toEqual(byChannel([...early, ...late]))
    })
  })

  test('that are skipped leave nothing behind', () => {
    run(several, messages => {
      const { got, sink } = collector(({ id }) => id % 2 === 0)
      const reader = new FrameReader(sink)
      for (const frame of messages.flatMap(message => framesOf(wireOf(message).bytes))) reader.push(frame, 0)
      expect(got).toEqual(messages.filter(({ id }) => id % 2 === 1))
    })
  })

  test('of a stranger are read or refused, and what was begun is given back', () => {
    const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 })
    let refused = 0
    run(
      fc.tuple(several, damage),
      ([messages, changes]) => {
        const bytes = concatBytes(...messages.map(message => wireOf(message).bytes))
        // Views of the bytes, cut where the frames were before the damage.
        const frames = framesOf(bytes)
        for (const [at, value] of changes)
          if (bytes.byteLength > 0) bytes[(at * at) % Math.min(64, bytes.byteLength)] = value
        const { sink, held } = collector(({ length }) => length > 1_000_000, false)
        const reader = new FrameReader(sink)
        try {
          for (const frame of frames) reader.push(frame, 0)
        } catch (error) {
          if (!isCoded(error) || error.code !== 'FRAME_INVALID') throw error
          refused++
        }
        reader.close()
        expect(held()).toBe(0)
      },
      400,
    )
    expect(refused).toBeGreaterThan(40)
  })

  test('that stop in the middle have a deadline', () => {
    const { sink } = collector()
    const reader = new FrameReader(sink)
    const message = wireOf({ channel: 'sync', id: 1, requestId: 0, size: 200_000 })
    const [first, ...others] = framesOf(message.bytes) as [Uint8Array, ...Uint8Array[]]
    reader.push(first, 1_000)
    // It has time for its length.
    expect(reader.deadlineMs).toBe(1_000 + 20_000 + 3_125)
    for (const frame of others) reader.push(frame, 6_000)
    expect(reader.deadlineMs).toBeUndefined()
  })

  test('in records that are changed, cut, empty, tiny, repeated, or left out are refused', () => {
    const frame = wireOf({ channel: 'sync', id: 1, requestId: 0, size: 100 }).bytes
    const received = (bytesOf: (sender: Records) => readonly Uint8Array[]) => {
      const [sender, receiver] = twoEnds()
      const frames: Uint8Array[] = []
      for (const bytes of bytesOf(sender)) receiver.push(bytes, 5, one => frames.push(one))
      return frames.length
    }
    const broken = /RECORD_DAMAGED/
    expect(received(sender => [sender.seal(frame), sender.seal(frame)])).toBe(2)
    run(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })), ([at, by]) => {
      // A changed length may only make the record incomplete.
      const change = (record: Uint8Array) => {
        const index = 4 + (at % (record.byteLength - 4))
        record[index] = (record[index] as number) ^ by
        return record
      }
      expect(() => received(sender => [change(sender.seal(frame))])).toThrow(broken)
    })
    for (const size of [0, 1, 5]) expect(() => received(sender => [sender.seal(new Uint8Array(size))])).toThrow(broken)
    expect(() => received(sender => [sender.seal(new Uint8Array(FRAGMENT_BYTES + 6))])).toThrow(broken)
    expect(() => received(sender => ((record: Uint8Array) => [record, record])(sender.seal(frame)))).toThrow(broken)
    expect(() => received(sender => [sender.seal(frame), sender.seal(frame)].slice(1))).toThrow(broken)
    const [sender, receiver] = twoEnds()
    receiver.push(sender.seal(frame).subarray(0, 3), 7, () => {})
    expect(receiver.unfinishedSinceMs).toBe(7)
  })

  test('pass over many changes of the key', () => {
    const [sender, receiver] = twoEnds()
    const frame = wireOf({ channel: 'votes', id: 1, requestId: 0, size: 1 }).bytes
    let got = 0
    for (let index = 0; index < 2 ** 16 + 2; index++) receiver.push(sender.seal(frame), 0, () => got++)
    expect(got).toBe(2 ** 16 + 2)
  })
})

describe('what waits for a socket', () => {
  test('leaves by channel, and a frame under way is not interrupted', () => {
    const queue = new SendQueue()
    const push = (channel: ChannelName, bytes: number) => queue.push(encodeFrames(channel, 0, 0, new Uint8Array(bytes)))
    push('transactions', 10)
    push('sync', 3 * FRAGMENT_BYTES)
    const channels = [queue.next()?.[4]]
    push('votes', 10)
    push('control', 10)
    for (const frame of drain(queue)) channels.push(frame[4])
    expect(channels).toEqual([3, 0, 1, 3, 3, 3, 4])
  })

  test('stays within its bounds, drops as its channel says, and never half a message', () => {
    const step = fc.oneof(
      fc.record({ channel: fc.constantFrom(...CHANNEL_NAMES), bytes: fc.integer({ min: 1, max: 1_000_000 }) }),
      fc.integer({ min: 1, max: 40 }),
    )
    run(
      fc.array(step, { maxLength: 60 }),
      steps => {
        const queue = new SendQueue()
        const got = collector(undefined, false)
        const reader = new FrameReader(got.sink)
        const kept: Record<string, number[]> = Object.fromEntries(CHANNEL_NAMES.map(name => [name, []]))
        let id = 0
        for (const action of steps) {
          if (typeof action === 'number') {
            for (let count = 0; count < action; count++) {
              const frame = queue.next()
              if (frame !== undefined) reader.push(frame, 0)
            }
            continue
          }
          const { channel, bytes } = action
          id = (id + 1) % 256
          const result = queue.push(encodeFrames(channel, id, 0, new Uint8Array(bytes)))
          const { drop, queueBytes } = CHANNELS[channel]
          if (result === 'close') expect(drop).toBe('close')
          if (result === 'queued' || drop === 'oldest') kept[channel]?.push(id)
          expect(queue.bytes(channel)).toBeLessThanOrEqual(queueBytes)
        }
        for (const frame of drain(queue)) reader.push(frame, 0)
        expect(reader.deadlineMs, 'no message is cut').toBeUndefined()
        for (const name of CHANNEL_NAMES) {
          const ids = got.got.filter(({ channel }) => channel === name).map(message => message.id)
          if (CHANNELS[name].drop === 'oldest') expect(isSubsequence(ids, kept[name] ?? [])).toBe(true)
          else expect(ids).toEqual(kept[name])
          expect(queue.bytes(name)).toBe(0)
        }
      },
      40,
    )
  })

  test('keeps the newest vote and the first block', () => {
    for (const [channel, last] of [
      ['votes', true],
      ['sync', false],
    ] as const) {
      const queue = new SendQueue()
      const one = CHANNELS[channel].queueBytes / 4
      for (let id = 0; id < 9; id++) queue.push(encodeFrames(channel, id, 0, new Uint8Array(one - 10_000)))
      const { got, sink } = collector(undefined, false)
      const reader = new FrameReader(sink)
      for (const frame of drain(queue)) reader.push(frame, 0)
      expect(got.map(({ id }) => id)).toEqual(last ? [5, 6, 7, 8] : [0, 1, 2, 3])
    }
  })
})

const isSubsequence = (part: readonly number[], whole: readonly number[]): boolean => {
  let at = 0
  for (const value of whole) if (value === part[at]) at++
  return at === part.length
}
