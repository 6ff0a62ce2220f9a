import { finishSlicedWork } from '@tandem/base/async/sliced-work.ts'
import { describe, expect, test } from 'vitest'
import { RPC_LIMITS } from '../../../../src/config/limits/clients.ts'
import { idsAsWritten, scanShape } from '../../../../src/rpc/router/json-guard.ts'

const isTooComplex = (body: string): boolean => finishSlicedWork(scanShape(body))

describe('shape of a body', () => {
  test('refuses millions of values, which would hold the thread', () => {
    const zeros = `{"id":1,"params":[${'0,'.repeat(RPC_LIMITS.values + 1)}0]}`
    const members = `{"id":1,"params":[{${Array.from({ length: RPC_LIMITS.values + 1 }, (_, i) => `"${i}":0`).join(',')}}]}`
    expect(isTooComplex(zeros)).toBe(true)
    expect(isTooComplex(members)).toBe(true)
  })

  test('takes a body that is full of addresses', () => {
    const address = `"0x${'ab'.repeat(20)}"`
    const count = Math.floor(RPC_LIMITS.bodyBytes / (address.length + 1)) - 10
    expect(isTooComplex(`{"id":1,"params":[${Array(count).fill(address).join(',')}]}`)).toBe(false)
  })

  test('does not count what stands in strings', () => {
    expect(isTooComplex(`{"id":1,"params":["${',[{'.repeat(200_000)}"]}`)).toBe(false)
  })

  test('is found out in parts', () => {
    const body = `{"id":1,"params":[${'0,'.repeat(RPC_LIMITS.values - 10)}0]}`
    expect([...scanShape(body)].length).toBeGreaterThan(5)
  })
})

describe('ids as they were written', () => {
  test('of which a long one is cut where it is too long', () => {
    const [id] = idsAsWritten(`{"id":${'9'.repeat(100_000)}}`)
    expect(id?.length).toBe(RPC_LIMITS.idChars + 1)
  })

  test.each([
    ['{"id":1.50}', ['1.50']],
    ['{ "id" : -0.10e+5 , "method":"x"}', ['-0.10e+5']],
    ['{"\\u0069d":7}', ['7']],
    ['{"id":1,"id":2.0}', ['2.0']],
    ['{"id":1,"id":"a"}', [undefined]],
    ['{"params":[{"id":3}],"id":4}', ['4']],
    ['{"params":{"id":3}}', []],
    ['{"a":"\\"id\\":5","id":6}', ['6']],
    ['{"method":"id","id":8}', ['8']],
    [
      ' [{"id":1e400},{"id":"x"},7,[{"id":9}],{"params":["id"],"id":12345678901234567890}]',
      ['1e400', undefined, undefined, undefined, '12345678901234567890'],
    ],
  ])('%s', (body, expected) => {
    const found = idsAsWritten(body)
    expect(expected.map((_, i) => found[i])).toEqual(expected)
    expect(found.length).toBeLessThanOrEqual(expected.length)
  })

  test('reads a large body in one pass', () => {
    const seen: string[] = []
    const body = `{"id":1.5,"params":[${'0,'.repeat(100_000)}0]}`
    const parse = JSON.parse
    JSON.parse = (text: string, ...rest: never[]) => {
      seen.push(text)
      return parse(text, ...rest)
    }
    try {
      expect(idsAsWritten(body)).toEqual(['1.5'])
    } finally {
      JSON.parse = parse
    }
    expect(seen).not.toContain(body)
  })
})
