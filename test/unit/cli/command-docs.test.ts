import { readdirSync, readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { renderCommandDocs } from '../../../src/cli/command-docs.ts'
import { createProgram } from '../../../src/cli/program.ts'
import { OPTION_GROUPS } from '../../../src/cli/shared/options/option-groups.ts'

const DOCS = new URL('../../../docs/', import.meta.url)
const OPTION = /(?<![\w-])--[a-z][a-z0-9-]+/g

const commandsBelow = (command: Command): readonly Command[] => [command, ...command.commands.flatMap(commandsBelow)]
const program = createProgram()
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
  const PAGES = readdirSync(DOCS).filter(name => name.endsWith('.md'))
  /** Options of other programs: forge, cast, anvil, docker, git, npm, vitest, node, asc, and of benchmarks. */
  const FOREIGN = new Set(
    `--help --blocks --branch --broadcast --build --check --config --constructor-args --depth --dump-state --fork-url
    --gas-estimate-multiplier --ignore-scripts --legacy --load-state --omit --private-key --project --rpc-url
    --skip-simulation --storage --mode --external-memory-accounted-in-global-limit --value --verifier --verifier-url --watch`.split(
      /\s+/,
    ),
  )

  test.each(PAGES)('docs/%s names options that there are', page => {
    const named = new Set(readFileSync(new URL(page, DOCS), 'utf8').match(OPTION))
    expect([...named].filter(name => !known.has(name) && !FOREIGN.has(name))).toEqual([])
  })
  test('are found, and one that is gone is reported', () => {
    const page = 'Start it with `--datadir DIR` and `--data-dir DIR`'
    expect(page.match(OPTION)?.filter(name => !known.has(name))).toEqual(['--data-dir'])
  })
})
