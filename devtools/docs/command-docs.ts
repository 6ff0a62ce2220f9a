import type { Command, Option } from 'commander'
import { describeOption } from '../../src/cli/program.ts'
import { sortOptions } from '../../src/cli/shared/options/option-groups.ts'
import { createFullProgram } from '../program.ts'

const HEAD = `# Commands

Every command and option of \`tandem\`; in a checkout it runs as \`npx tandem\`. \`tandem COMMAND --help\` prints the same with examples.
[operations.md](operations.md) describes output and exit statuses.

Written by \`npm run docs\` from the commands; do not edit.
`

/** Markdown of docs/commands.md. */
export const renderCommandDocs = (): string =>
  [HEAD, ...createFullProgram().commands.flatMap(command => sectionsOf(command, 'tandem'))].join('\n')

/** One section for each command without subcommands. */
const sectionsOf = (command: Command, parent: string): readonly string[] => {
  const name = `${parent} ${command.name()}`
  if (command.commands.length > 0) return command.commands.flatMap(child => sectionsOf(child, name))
  const args = command.registeredArguments.map(argument => [argument.name(), argument.description] as const)
  const title = [name, ...args.map(([argument]) => argument.toUpperCase())].join(' ')
  const tables = [...optionsByHeading(command)].map(([heading, options]) => {
    const rows = options.map(option => [option.flags, describeOption(option)] as const)
    return heading === '' ? table([...args, ...rows]) : `**${heading}**\n\n${table(rows)}`
  })
  return [`## ${title}\n\n${command.description()}.\n\n${tables.join('\n')}`]
}

const optionsByHeading = ({ options }: Command): ReadonlyMap<string, readonly Option[]> =>
  Map.groupBy(sortOptions(options), ({ helpGroupHeading = '' }) => helpGroupHeading.replace(/:$/, ''))

const table = (rows: readonly (readonly [name: string, meaning: string])[]): string =>
  ['| | |', '|---|---|', ...rows.map(([name, meaning]) => `| \`${cell(name)}\` | ${cell(meaning)} |`), ''].join('\n')

const cell = (text: string): string => text.replaceAll('|', '\\|')
