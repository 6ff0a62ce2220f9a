import { Command } from 'commander'
import { expect, test } from 'vitest'
import { addDevtoolCommands, importDevtool } from '../../../src/cli/shared/devtools.ts'

test('a tool that an installed package has not is refused with what to do', async () => {
  await expect(importDevtool('nothing-there.ts', 'tandem sim')).rejects.toThrow(
    'tandem sim needs the folder devtools, which only a checkout of the repository has',
  )
})

test('the commands of devtools are listed without loading them', () => {
  const program = new Command()
  addDevtoolCommands(program)
  expect(program.commands.map(command => command.name())).toEqual(['statetest', 'blocktest', 'fixture', 'sim'])
  expect(program.helpInformation()).toContain('(in a checkout)')
})
