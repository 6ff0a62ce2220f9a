import type { Command } from 'commander'
import { createProgram } from '../src/cli/program.ts'
import { addBlockTestCommand } from './block-test/command.ts'
import { addFixtureCommand } from './recorded/command.ts'
import { addSimCommand } from './sim/command.ts'
import { addStateTestCommand } from './state-test/command.ts'

/** The command line with the commands of this folder. */
export const createFullProgram = (): Command =>
  createProgram(program => {
    addStateTestCommand(program)
    addBlockTestCommand(program)
    addFixtureCommand(program)
    addSimCommand(program)
  })
