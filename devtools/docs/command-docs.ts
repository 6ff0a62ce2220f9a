import type { Command, Option } from 'commander'
import { describeOption } from '../../src/cli/program.ts'
import { sortOptions } from '../../src/cli/shared/options/option-groups.ts'
import { createFullProgram } from '../program.ts'

const HEAD = `# Commands

Every command and option of \`tandem\`; in a checkout it runs as \`npx tandem\`. \`tandem COMMAND --help\` prints the same with examples.
Output and exit statuses: [operations.md](operations.md). Written by \`npm run docs\` from the commands; do not edit.
`

/** Markdown of docs/commands.md. */
export const renderCommandDocs = (): string => {
  const program = createFullProgram()
  const shared = sharedRows(program)
  return [
    HEAD,
    ...program.commands.flatMap(command => sectionsOf(command, 'tandem', shared)),
    `## Shared options\n\n${list([...shared.values()].toSorted(([a], [b]) => (a < b ? -1 : 1)))}`,
  ].join('\n')
}

type Row = readonly [name: string, meaning: string]

const rowOf = (option: Option): Row => [option.flags, describeOption(option)]
const keyOf = (option: Option): string => rowOf(option).join(' ')

/** Rows of options that several commands have alike, by their text: printed once, at the end. Of one name, the most frequent row. */
const sharedRows = (program: Command): ReadonlyMap<string, Row> => {
  const byText = Map.groupBy(
    leavesOf(program).flatMap(({ options }) => options),
    keyOf,
  )
  const alike = [...byText].filter(([, options]) => options.length > 1).toSorted(([, a], [, b]) => a.length - b.length)
  const ofName = new Map(
    alike.flatMap(([key, [option]]) => (option === undefined ? [] : [[option.long, [key, rowOf(option)] as const]])),
  )
  return new Map(ofName.values())
}

const leavesOf = (command: Command): readonly Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf)

/** One section for each command without subcommands. */
const sectionsOf = (command: Command, parent: string, shared: ReadonlyMap<string, Row>): readonly string[] => {
  const name = `${parent} ${command.name()}`
  if (command.commands.length > 0) return command.commands.flatMap(child => sectionsOf(child, name, shared))
  const args = command.registeredArguments.map(argument => [argument.name(), argument.description] as const)
  const title = [name, ...args.map(([argument]) => argument.toUpperCase())].join(' ')
  const parts = [...optionsByHeading(command)].map(([heading, options]) => {
    const own = options.filter(option => !shared.has(keyOf(option))).map(rowOf)
    const others = options.filter(option => shared.has(keyOf(option))).map(({ long }) => `\`${long}\``)
    const rows = heading === '' ? [...args, ...own] : own
    const also = others.length === 0 ? [] : [`[Shared](#shared-options): ${others.join(', ')}\n`]
    return [...(heading === '' ? [] : [`**${heading}**\n`]), ...(rows.length === 0 ? [] : [list(rows)]), ...also].join(
      '\n',
    )
  })
  return [`## ${title}\n\n${command.description()}.\n\n${parts.join('\n')}`]
}

const optionsByHeading = ({ options }: Command): ReadonlyMap<string, readonly Option[]> =>
  Map.groupBy(sortOptions(options), ({ helpGroupHeading = '' }) => helpGroupHeading.replace(/:$/, ''))

const list = (rows: readonly Row[]): string => rows.map(([name, meaning]) => `- \`${name}\` ${meaning}\n`).join('')
