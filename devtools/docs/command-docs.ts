import type { Command, Option } from 'commander'
import { sortOptions } from '../../src/cli/shared/options/option-groups.ts'
import { createFullProgram } from '../program.ts'

const HEAD = `# Commands

Every command of \`tandem\` with its options; in a checkout it runs as \`npx tandem\`. \`tandem COMMAND --help\` says what each option does, with its default, its
choices and examples. Output and exit statuses: [operations.md](operations.md). Written by \`npm run docs\` from the commands; do not edit.
`

/** Markdown of docs/commands.md: names alone, since the help of a command has the rest. */
export const renderCommandDocs = (): string =>
  [HEAD, ...createFullProgram().commands.flatMap(command => sectionsOf(command, 'tandem'))].join('\n')

/** One section for each command without subcommands. */
const sectionsOf = (command: Command, parent: string): readonly string[] => {
  const name = `${parent} ${command.name()}`
  if (command.commands.length > 0) return command.commands.flatMap(child => sectionsOf(child, name))
  const title = [name, ...command.registeredArguments.map(argument => argument.name().toUpperCase())].join(' ')
  const parts = [...optionsByHeading(command)].map(([heading, options]) => {
    const flags = options.map(option => `\`${option.flags}\`${option.mandatory ? ' (required)' : ''}`).join(', ')
    return heading === '' ? `- ${flags}\n` : `- ${heading}: ${flags}\n`
  })
  return [`## ${title}\n\n${command.description()}.\n${parts.length === 0 ? '' : `\n${parts.join('')}`}`]
}

const optionsByHeading = ({ options }: Command): ReadonlyMap<string, readonly Option[]> =>
  Map.groupBy(sortOptions(options), ({ helpGroupHeading = '' }) => helpGroupHeading.replace(/:$/, ''))
