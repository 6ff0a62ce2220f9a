import { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { setReadableLimit } from '../../../src/util/readable-limit.ts'

test(`a socket of Node ${process.version} takes no more than its new limit before it is read, and the old one again`, () => {
  const socket = new Socket()
  const before = socket.readableHighWaterMark
  expect(before).toBeGreaterThan(2_000)
  setReadableLimit(socket, 1_000)
  expect(socket.readableHighWaterMark).toBe(1_000)
  expect(socket.push(Buffer.alloc(999))).toBe(true)
  expect(socket.push(Buffer.alloc(1))).toBe(false)
  setReadableLimit(socket, before)
  expect(socket.push(Buffer.alloc(1))).toBe(true)
  socket.destroy()
})
