import { Command, Help, type Option } from 'commander'
import { version } from '../node/version.ts'
import { useNurseryLimits } from '../util/worker/nursery.ts'
import { addDbCommand } from './db/command.ts'
import { addDevnetCommand } from './devnet/command.ts'
import { addExplorerCommand } from './explorer/command.ts'
import { addFaucetCommand } from './faucet/command.ts'
import { addFixtureCommand } from './fixture/command.ts'
import { addGenesisCommand } from './genesis/command.ts'
import { addKeyCommand } from './key/command.ts'
import { addLocalnetCommand } from './localnet/command.ts'
import { addMineCommand } from './mine/command.ts'
import { exitWithError } from './shared/output.ts'
import { addSimCommand } from './sim/command.ts'
import { addStartCommand } from './start/command.ts'
import { addStateTestCommand } from './statetest/command.ts'

useNurseryLimits()

const program = new Command('tandem')
  .description('EVM blockchain node: PBFT main chain, JSON-RPC over HTTP and WebSocket')
  .version(version, '-V, --version', 'print the version')
  .helpOption('-h, --help', 'show this help')
  .showHelpAfterError('(add --help for all options)')
  .configureHelp({ helpWidth: 110, optionDescription })
  .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'tandem: ')) })

addDevnetCommand(program)
addLocalnetCommand(program)
addStartCommand(program)
addGenesisCommand(program)
addKeyCommand(program)
addDbCommand(program)
addExplorerCommand(program)
addFaucetCommand(program)
addFixtureCommand(program)
addStateTestCommand(program)
addSimCommand(program)
addMineCommand(program)

try {
  await program.parseAsync()
} catch (error) {
  exitWithError(error)
}

/** Switches are off by default: printing that for each would hide the defaults that matter. */
function optionDescription(this: Help, option: Option): string {
  return option.isBoolean() ? option.description : Help.prototype.optionDescription.call(this, option)
}
