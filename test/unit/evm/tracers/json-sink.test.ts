import { expect, test } from 'vitest'
import { JsonSink } from '../../../../src/evm/tracers/json-sink.ts'

const sinkOf = (chunkChars: number, limitBytes = 1_000) => {
  const chunks: string[] = []
  const sink = new JsonSink({
    emit: chunk => void chunks.push(chunk.toString()),
    chunkChars,
    limitBytes,
    credits: 100,
  })
  return { sink, text: () => chunks.join('') }
}

test('what failed before anything was given out leaves nothing', () => {
  const { sink, text } = sinkOf(100)
  sink.nest('{"a":[', ']}')
  sink.write('1')
  sink.fail()
  sink.flush()
  expect(text()).toBe('')
})

test('what failed later is closed, and what was only announced is left out', () => {
  const { sink, text } = sinkOf(4)
  sink.nest('{"a":[', ']}')
  sink.write('1')
  sink.nest(',{"b":', '}')
  sink.write('2')
  sink.nest(',"c":[', ']')
  sink.fail()
  sink.flush()
  expect(text()).toBe('{"a":[1,{"b":2}]}')
})

test('more than the limit is refused', () => {
  const { sink } = sinkOf(4, 8)
  sink.write('"12345"')
  sink.write(',"1"')
  expect(() => sink.write(',2')).toThrow(expect.objectContaining({ code: 'TRACE_TOO_LARGE' }))
})
