import { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { executionOption } from '../../../../src/cli/shared/options/options.ts'

const parse = (...args: readonly string[]) => {
  const command = new Command().addOption(executionOption()).exitOverride()
  command.configureOutput({ writeErr: () => {} })
  return command.parse(args, { from: 'user' }).opts()
}

describe('ways to run code', () => {
  test('the default is the engine in WebAssembly', () => expect(parse()).toEqual({ execution: 'wasm' }))

  test.each(['wasm', 'ethereumjs', 'shadow'])('--execution %s', execution => {
    expect(parse('--execution', execution)).toEqual({ execution })
  })

  test.each(['fast', 'interpreter'])('--execution %s is refused', execution => {
    expect(() => parse('--execution', execution)).toThrow(/Allowed choices are wasm, ethereumjs, shadow/)
  })
})
