import { Command, Help, type Option } from 'commander'
import { version } from '../node/version.ts'
import { addCompletionCommand } from './completion.ts'
import { addConfigCommand } from './config/command.ts'
import { addDbCommand } from './db/command.ts'
import { addDevnetCommand } from './devnet/command.ts'
import { addExplorerCommand } from './explorer/command.ts'
import { addFaucetCommand } from './faucet/command.ts'
import { addGenesisCommand } from './genesis/command.ts'
import { addKeyCommand } from './key/command.ts'
import { addLocalnetCommand } from './localnet/command.ts'
import { addMineCommand } from './mine/command.ts'
import { addNetworkCommand } from './network-command.ts'
import { addDevtoolCommands } from './shared/devtools.ts'
import { groupOptions, sortOptions } from './shared/options/option-groups.ts'
import { useOptionSources } from './shared/options/option-sources.ts'
import { addStartCommand } from './start/command.ts'

const HELP = new Help()

/** The command line: every command with its options and help texts. Commands load their code when they run. */
export const createProgram = (addOthers = addDevtoolCommands): Command => {
  const program = new Command('tandem')
    .description('EVM blockchain node: PBFT main chain, JSON-RPC over HTTP and WebSocket')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show this help')
    .showHelpAfterError('(add --help for all options)')
    .configureHelp({
      helpWidth: 110,
      optionDescription: describeOption,
      visibleOptions: command => sortOptions(HELP.visibleOptions(command)),
    })
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'tandem: ')) })
  addDevnetCommand(program)
  addLocalnetCommand(program)
  addStartCommand(program)
  addGenesisCommand(program)
  addKeyCommand(program)
  addDbCommand(program)
  addExplorerCommand(program)
  addFaucetCommand(program)
  addMineCommand(program)
  addNetworkCommand(program)
  addConfigCommand(program, createProgram)
  addCompletionCommand(program)
  addOthers(program)
  useOptionSources(program)
  for (const command of program.commands) groupOptions(command)
  return program
}

/** Text of an option with its choices and default. Switches are off by default: printing that for each would hide the defaults that matter. */
const describeOption = (option: Option): string => {
  const text = option.isBoolean() ? option.description : HELP.optionDescription(option)
  return option.mandatory ? `required: ${text}` : text
}
