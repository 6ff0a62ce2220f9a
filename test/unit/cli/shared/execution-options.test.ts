import { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { evmOption, executionOption } from '../../../../src/cli/shared/options/options.ts'

const parse = (...args: readonly string[]) => {
  const command = new Command().addOption(evmOption()).addOption(executionOption()).exitOverride()
  command.configureOutput({ writeErr: () => {} })
  return command.parse(args, { from: 'user' }).opts()
}

describe('engines and ways to execute blocks', () => {
  test.each(['wasm', 'interpreter'])('--evm %s', evm => {
    expect(parse('--evm', evm)).toMatchObject({ evm, execution: 'fast' })
  })

  test('the VM of EthereumJS is no engine', () => {
    expect(() => parse('--evm', 'ethereumjs')).toThrow(/Allowed choices are wasm, interpreter/)
    expect(parse('--execution', 'ethereumjs')).toMatchObject({ execution: 'ethereumjs' })
  })

  test('the help says that gas bounds no time in the development modes', () => {
    expect(executionOption().description).toMatch(/development tools/)
  })
})
