import { readFileSync } from 'node:fs'
import type { Command, Option } from 'commander'

/*
 * Options outside of the command line: a TOML file has a table for each command, `TANDEM_*` variables go before it, flags before both. Each value is
 * read as the flag would be, so one error names a wrong one wherever it stands (docs/configuration.md).
 */

/** Origin of an option's value. */
export type OptionSource = 'default' | 'config' | 'env' | 'cli' | 'implied'

type Table = Readonly<Record<string, unknown>>

/** Largest file of options, bytes. */
const MOST_BYTES = 1024 * 1024
const CONFIG_VARIABLE = 'TANDEM_CONFIG'

/** `key new` of the command that a user calls `tandem key new`. */
export const pathOf = (command: Command): readonly string[] =>
  command.parent === null ? [] : [...pathOf(command.parent), command.name()]

/** Name of an option in a file: that of its flag without dashes, of `--no-discovery` too. */
export const keyOf = (option: Option): string =>
  option.attributeName().replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)

export const variableOf = (option: Option): string => `TANDEM_${keyOf(option).toUpperCase().replaceAll('-', '_')}`

/** Takes in the options of file and environment before a command reads its own. */
export const useOptionSources = (program: Command): void => {
  program.option('--config <file>', `TOML file with options of commands (or set ${CONFIG_VARIABLE})`)
  for (const parent of [program, ...commandsBelow(program)].filter(({ commands }) => commands.length > 0))
    parent.hook('preSubcommand', (_, command) => {
      if (command.commands.length > 0) return undefined
      const path = program.opts<{ config?: string }>().config ?? (process.env[CONFIG_VARIABLE] || undefined)
      if (path === undefined) return takeIn(command, {})
      return readConfig(program, path).then(config => takeIn(command, optionsTable(config, command), path))
    })
}

/** Commands below one that run, and hold no others. */
export const leavesBelow = (command: Command): readonly Command[] =>
  commandsBelow(command).filter(({ commands }) => commands.length === 0)

/** Every command below one. */
export const commandsBelow = ({ commands }: Command): readonly Command[] =>
  commands.flatMap(command => [command, ...commandsBelow(command)])

/** Reads a file of options. Throws with each name that is not known. */
export const readConfig = async (program: Command, path: string): Promise<Table> => {
  const bytes = readFileSync(path)
  if (bytes.byteLength > MOST_BYTES) throw new Error(`${path} has more than ${MOST_BYTES} bytes.`)
  const { parse, TomlError } = await import('smol-toml')
  try {
    const config = parse(bytes.toString('utf8')) as Table
    const unknown = unknownNames(program, config)
    if (unknown.length === 0) return config
    throw new Error(`${path} has what no command knows: ${unknown.join(', ')}. "tandem COMMAND --help" lists options.`)
  } catch (error) {
    throw error instanceof TomlError ? new Error(`${path}: ${error.message}`) : error
  }
}

/** Table of a command in a file of options; an empty one where the file has none. */
export const optionsTable = (config: Table, command: Command): Table =>
  pathOf(command).reduce<Table>((table, name) => (table[name] ?? {}) as Table, config)

const isTable = (value: unknown): value is Table =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)

const unknownNames = (command: Command, table: Table): readonly string[] =>
  Object.entries(table).flatMap(([name, value]) => {
    const below = command.commands.find(each => each.name() === name)
    if (below !== undefined && isTable(value)) return unknownNames(below, value)
    const isOption = command.parent !== null && command.options.some(option => keyOf(option) === name)
    return isOption && !isTable(value) ? [] : [[...pathOf(command), name].join('.')]
  })

const takeIn = (command: Command, table: Table, path = ''): void => {
  for (const option of command.options) {
    const variable = variableOf(option)
    const text = process.env[variable]
    if (text !== undefined && text !== '') take(command, option, text, 'env', variable)
    else if (table[keyOf(option)] !== undefined)
      take(command, option, table[keyOf(option)], 'config', `${path}: ${[...pathOf(command), keyOf(option)].join('.')}`)
  }
}

/** Gives an option a value as if it had been on the command line, where one replaces it. */
const take = (command: Command, option: Option, value: unknown, source: OptionSource, name: string): void => {
  const parse = option.parseArg
  // One that is given several times, as functions of two parameters collect them: flags begin anew.
  const isCollected = parse !== undefined && parse.length > 1
  const texts = Array.isArray(value) && !isCollected ? [value.join(',')] : [value].flat().map(String)
  try {
    const taken = texts.reduce<unknown>((before, text) => readValue(option, text, before), undefined)
    command.setOptionValueWithSource(option.attributeName(), taken, source)
  } catch (error) {
    command.error(`error: ${name}: '${texts.join(', ')}' is invalid. ${(error as Error).message}`)
  }
  if (!isCollected) return
  let isFirst = true
  option.argParser((text: string, before: unknown) => {
    const result = parse(text, isFirst ? undefined : before)
    isFirst = false
    return result
  })
}

const readValue = (option: Option, text: string, before: unknown): unknown => {
  if (!option.isBoolean() && !option.negate) return option.parseArg ? option.parseArg(text, before) : text
  if (text === 'true' || text === '1') return true
  if (text === 'false' || text === '0') return false
  throw new Error('It must be true or false.')
}
