import { expect, test } from 'vitest'
import { historyOption, httpUrlOption } from '../../../../../src/cli/shared/options/options.ts'

test('history is at least one block: the state before the head is what a proof or a trace starts from', () => {
  expect(historyOption('1')).toBe(1)
  expect(historyOption('archive')).toBe('archive')
  expect(() => historyOption('0')).toThrow('whole number from 1 to')
})

test('an address of JSON-RPC is that of a web server', () => {
  const option = httpUrlOption('http://127.0.0.1:8545')
  for (const url of ['http://127.0.0.1:8545', 'https://node.example/rpc']) expect(option(url)).toBe(url)
  for (const url of ['node.example', 'ws://node.example', 'javascript:alert(1)', ''])
    expect(() => option(url)).toThrow('It must be an http or https URL: http://127.0.0.1:8545.')
})
