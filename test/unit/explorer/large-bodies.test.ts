import { EventEmitter } from 'node:events'
import { EXPLORER_LIMITS } from '@tandem/explorer/limits.ts'
import { takeLargeBody } from '@tandem/explorer/service/explorer-http.ts'
import type { FastifyReply } from 'fastify'
import { expect, test } from 'vitest'

test('a client takes half of the places for large bodies, which come back when its responses end', () => {
  const { total, client: most } = EXPLORER_LIMITS.verification.bodies
  const responses: EventEmitter[] = []
  const take = (client: string): boolean => {
    const raw = new EventEmitter()
    responses.push(raw)
    return takeLargeBody({ raw } as unknown as FastifyReply, client)
  }
  for (let n = 0; n < most; n++) expect(take('trickle')).toBe(true)
  expect(take('trickle')).toBe(false)
  for (let n = most; n < total; n++) expect(take(`other ${n}`)).toBe(true)
  expect(take('one more')).toBe(false)
  responses[0]?.emit('close')
  expect(take('one more')).toBe(true)
})
