import { readdirSync, readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { renderCommandDocs } from '../../../devtools/docs/command-docs.ts'
import { createFullProgram } from '../../../devtools/program.ts'
import { OPTION_GROUPS } from '../../../src/cli/shared/options/option-groups.ts'

const DOCS = new URL('../../../docs/', import.meta.url)
const OPTION = /(?<![\w-])--[a-z][a-z0-9-]+/g

const commandsBelow = (command: Command): readonly Command[] => [command, ...command.commands.flatMap(commandsBelow)]
const program = createFullProgram()
const commands = commandsBelow(program)
const helpOf = (name: string): string => commands.find(command => command.name() === name)?.helpInformation() ?? ''

test('docs/commands.md has the options of every command (npm run docs writes it)', () => {
  expect(readFileSync(new URL('commands.md', DOCS), 'utf8')).toBe(renderCommandDocs())
})

describe('help', () => {
  test('says which options are required', () => {
    expect(helpOf('start')).toMatch(/--network <name> +required: /)
    expect(helpOf('start')).toMatch(/--datadir <folder> +required: /)
    expect(helpOf('devnet')).not.toContain('required: ')
  })

  test('of a command with many options has them below headings, each below one', () => {
    const help = helpOf('start')
    const place = (text: string): number => help.indexOf(text)
    const order = [
      'Options:',
      '--network',
      '--help',
      'HTTP and WebSocket:',
      '--tls-cert',
      'Peers and sync:',
      '--p2p-port',
    ]
    expect(order.map(place)).toEqual(order.map(place).toSorted((a, b) => a - b))
    expect(order.map(place)).not.toContain(-1)
    expect(help.match(/^ {2}--bootnodes/gm)).toHaveLength(1)
    expect(helpOf('mine')).toMatch(/Options:[\s\S]*--stratum/)
    expect(helpOf('mine')).not.toContain('Proof chain:')
  })

  test('every name below a heading is an option of some command', () => {
    const known = new Set(commands.flatMap(({ options }) => options.map(option => option.attributeName())))
    expect(
      Object.values(OPTION_GROUPS)
        .flat()
        .filter(name => !known.has(name)),
    ).toEqual([])
  })
})

describe('options that pages name', () => {
  const known = new Set(commands.flatMap(({ options }) => options.flatMap(({ long }) => long ?? [])))
  /** Options of other programs that stand alone between backticks. */
  const FOREIGN = new Set([
    ...['--skip-simulation', '--gas-estimate-multiplier', '--verifier', '--load-state', '--dump-state', '--help'],
    ...['--external-memory-accounted-in-global-limit', '--wasm-max-mem-pages', '--mode'],
  ])

  /** Text between backticks, and commands in lines of code. */
  const codeOf = (page: string): readonly string[] =>
    page.split('\n').flatMap(line => {
      if (line.startsWith('    ')) return commandLine(line.trim()) === undefined ? [] : [line.trim()]
      return [...line.matchAll(/`([^`]+)`/g)].map(([, text]) => text as string)
    })
  /** Command line of ours in a code, from its first word on: options before another program are not ours. */
  const commandLine = (code: string): string | undefined => /(?:^|npx |: )tandem ([a-z][^|>]*)/.exec(code)?.[1]

  const wrongIn = (page: string): readonly string[] =>
    codeOf(page).flatMap(code => {
      const line = commandLine(code)
      if (line === undefined) {
        const [first = ''] = code.match(/^--[a-z][a-z0-9-]+/) ?? []
        return first === '' || known.has(first) || FOREIGN.has(first) ? [] : [first]
      }
      let command: Command = program
      for (const word of line.split(/\s+/)) {
        const child = command.commands.find(one => one.name() === word)
        if (child === undefined) break
        command = child
      }
      const options = new Set(commandsBelow(command).flatMap(one => one.options.flatMap(({ long }) => long ?? [])))
      const wrong = (line.match(OPTION) ?? []).filter(name => name !== '--help' && !options.has(name))
      return wrong.map(name => `${command.name()} ${name}`)
    })

  const pages = [
    ...readdirSync(DOCS, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.md')),
    ...['../README.md', '../CONTRIBUTING.md'],
  ]
  test.each(pages)('docs/%s: are options of the command beside them', page => {
    expect(wrongIn(readFileSync(new URL(page, DOCS), 'utf8'))).toEqual([])
  })

  test('are found, and those that are gone or of another command are reported', () => {
    const page = `Give \`--data-dir DIR\` or \`--datadir DIR\`; \`cast send --value 1\`.

    tandem start --network devnet --chaos
    tandem key watermark import FILE --genesis FILE --reveal`
    expect(wrongIn(page)).toEqual(['--data-dir', 'start --chaos', 'import --reveal'])
  })
})
