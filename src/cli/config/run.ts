import type { Command, Option } from 'commander'
import {
  commandsBelow,
  keyOf,
  leavesBelow,
  type OptionSource,
  optionsTable,
  pathOf,
  readConfig,
  variableOf,
} from '../shared/options/option-sources.ts'

/** Prints a table for the file of options: what a command would run with. Options without a value are comments. */
export const printConfig = async (print: Command, program: Command, args: readonly string[]): Promise<void> => {
  // Help behind a command is that command's.
  if (args[0] === '--help' || args[0] === '-h') return print.help()
  const { config } = print.optsWithGlobals<{ config?: string }>()
  const texts = recordTexts(program)
  for (const command of leavesBelow(program))
    command.action(() => void process.stdout.write(`${renderOptions(command, texts)}\n`))
  await program.parseAsync([...(config === undefined ? [] : ['--config', config]), ...args], { from: 'user' })
}

/** Reads every value of a file as its command would. Throws for what a command would refuse. */
export const checkConfig = async (createProgram: () => Command, file: string): Promise<void> => {
  const config = await readConfig(createProgram(), file)
  const tables: (readonly string[])[] = []
  for (const at of leavesBelow(createProgram()).keys()) {
    // A command line remembers what it has parsed.
    const program = createProgram()
    const command = leavesBelow(program)[at] as Command
    if (Object.keys(optionsTable(config, command)).length === 0) continue
    // A mandatory option may be left to flags.
    for (const option of command.options) option.makeOptionMandatory(false)
    command.argument('[rest...]').action(() => undefined)
    await program.parseAsync(['--config', file, ...pathOf(command)], { from: 'user' })
    tables.push(pathOf(command))
  }
  process.stdout.write(
    `${file} is right: it has options of ${tables.map(path => path.join(' ')).join(', ') || 'no command'}.\n`,
  )
}

/** Returns the texts of options by their names, as they are read. */
const recordTexts = (program: Command): ReadonlyMap<Option, readonly string[]> => {
  const texts = new Map<Option, readonly string[]>()
  const valued = commandsBelow(program).flatMap(({ options }) => options.filter(each => each.required || each.optional))
  for (const option of valued) {
    const parse = option.parseArg ?? ((text: string) => text)
    const isCollected = parse.length > 1
    const record = (text: string, before?: unknown): unknown => {
      texts.set(option, isCollected && before !== undefined ? [...(texts.get(option) ?? []), text] : [text])
      return parse(text, before)
    }
    option.argParser(isCollected ? (text, before) => record(text, before) : text => record(text))
  }
  return texts
}

const ORIGINS: Readonly<Record<OptionSource, (option: Option) => string>> = {
  default: () => '',
  implied: () => '  # follows from another option',
  config: () => '  # from the file',
  env: option => `  # from ${variableOf(option)}`,
  cli: () => '  # from the command line',
}

const renderOptions = (command: Command, texts: ReadonlyMap<Option, readonly string[]>): string => {
  const lines = command.options.map(option => {
    const source = (command.getOptionValueSource(option.attributeName()) ?? 'default') as OptionSource
    const value =
      source === 'default' ? option.defaultValue : (texts.get(option) ?? command.getOptionValue(option.attributeName()))
    const text = textOf(value)
    if (text === undefined) return `# ${keyOf(option)} = ${option.defaultValueDescription ?? ''}`.trimEnd()
    return `${keyOf(option)} = ${text}${ORIGINS[source](option)}`
  })
  return [`[${pathOf(command).join('.')}]`, ...new Set(lines)].join('\n')
}

/** A value in TOML; undefined for none, and for one that has no text. Passwords in addresses are left out. */
const textOf = (value: unknown): string | undefined => {
  if (Array.isArray(value)) return value.length === 1 ? textOf(value[0]) : `[${value.map(textOf).join(', ')}]`
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value !== 'string') return undefined
  if (/^\d{1,15}$/.test(value)) return String(Number(value))
  const secret = URL.canParse(value) ? new URL(value).password : ''
  return JSON.stringify(secret === '' ? value : value.replace(`:${secret}@`, ':***@'))
}
