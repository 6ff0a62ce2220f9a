import { homedir } from 'node:os'
import { join } from 'node:path'
import { type Command, Option } from 'commander'
import { PASSWORD_VARIABLE } from '../shared/keys/passwords.ts'
import { addressOption } from '../shared/options/options.ts'
import type { ExportFlags, KeystoreFlags, PasswordFlags } from './run.ts'
import type { WatermarkFlags } from './watermark.ts'

export const addKeyCommand = (program: Command): void => {
  const key = program
    .command('key')
    .description('Make and look after keys, in encrypted files that geth and cast read too')
  key
    .command('new')
    .description('Make a key and write it to the keystore, encrypted')
    .addOption(keystoreOption())
    .addOption(passwordOption('password of the new key'))
    .addOption(jsonOption())
    .addHelpText('after', PASSWORD_HELP)
    .action(async (flags: PasswordFlags) => (await import('./run.ts')).newKey(flags))
  key
    .command('import')
    .description('Write a key that is there already to the keystore, encrypted')
    .argument('<file>', 'file with 64 hex digits, or a keystore (v3) of any program; "-" is the standard input')
    .addOption(keystoreOption())
    .addOption(passwordOption('password of the new file; a keystore is opened with it too'))
    .addOption(jsonOption())
    .addHelpText('after', PASSWORD_HELP)
    .action(async (file: string, flags: PasswordFlags) => (await import('./run.ts')).importKey(file, flags))
  key
    .command('export')
    .description('Print the private key of a keystore file: for a copy, copy the file, which stays encrypted')
    .argument('<file>', 'a keystore file, or the address of one in the keystore')
    .option('--reveal', 'print the private key: anyone who sees it controls the account', false)
    .addOption(keystoreOption())
    .addOption(passwordOption('password of the file'))
    .addHelpText('after', PASSWORD_HELP)
    .action(async (file: string, flags: ExportFlags) => (await import('./run.ts')).exportKey(file, flags))
  key
    .command('list')
    .description('List the addresses of the keys in the keystore')
    .addOption(keystoreOption())
    .addOption(jsonOption())
    .action(async (flags: KeystoreFlags) => (await import('./run.ts')).listKeys(flags))
  addWatermarkCommands(key)
}

const addWatermarkCommands = (key: Command): void => {
  const watermark = key
    .command('watermark')
    .description('Move the signing record of a validator to another machine (the node must be stopped)')
  watermark
    .command('export')
    .description('Write the last signatures of the validators of a data folder to a new file')
    .argument('<file>', 'the file to write')
    .addOption(datadirOption())
    .option('--validator <address>', 'only this one (default: all of the folder)', addressOption)
    .addOption(jsonOption())
    .action(async (file: string, flags: WatermarkFlags) => (await import('./watermark.ts')).exportMark(file, flags))
  watermark
    .command('import')
    .description('Raise the watermarks of a data folder to those of a file; none is ever lowered')
    .argument('<file>', 'a file that "tandem key watermark export" wrote')
    .addOption(datadirOption())
    .option('--genesis <file>', 'genesis file of the chain, where the folder holds none yet')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
Moving a validator:
  1. stop the old node for good
  2. tandem key watermark export signed.json --datadir OLD
  3. on the new machine: tandem key watermark import signed.json --datadir NEW --genesis genesis.json
  4. tandem start there: it follows until it has passed what was signed, then votes`,
    )
    .action(async (file: string, flags: WatermarkFlags) => (await import('./watermark.ts')).importMark(file, flags))
}

/** Home of the user; the root, where keys cannot get lost unseen, for one that the system does not know, as in a container. */
const homeFolder = (): string => {
  try {
    return homedir()
  } catch {
    return '/'
  }
}

const keystoreOption = (): Option =>
  new Option('--keystore <folder>', 'folder of the key files').default(
    join(homeFolder(), '.tandem', 'keystore'),
    '~/.tandem/keystore',
  )

const passwordOption = (what: string): Option =>
  new Option('--password-file <file>', `first line: the ${what} (or set ${PASSWORD_VARIABLE}, else a prompt)`)

const datadirOption = (): Option => new Option('--datadir <folder>', 'data folder of the node').makeOptionMandatory()

const jsonOption = (): Option => new Option('--json', 'one JSON line as result').default(false)

const PASSWORD_HELP = `
The password is read from --password-file, else from the environment variable ${PASSWORD_VARIABLE}, else asked for on the terminal
without being shown.`
