import { Command } from 'commander'
import { version } from '../node/version.ts'
import { addDbCommand } from './db.ts'
import { addDevnetCommand } from './devnet.ts'
import { fail } from './output.ts'
import { addStartCommand } from './start.ts'

const program = new Command('tandem')
  .description('EVM blockchain node: PBFT main chain, JSON-RPC over HTTP and WebSocket')
  .version(version, '-V, --version', 'print the version')
  .helpOption('-h, --help', 'show this help')
  .showHelpAfterError('(add --help for all options)')
  .configureHelp({ helpWidth: 110 })

addDevnetCommand(program)
addStartCommand(program)
addDbCommand(program)

try {
  await program.parseAsync()
} catch (error) {
  fail(error)
}
