import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { renderCompletion } from '../../../src/cli/completion.ts'
import { checkConfig, printConfig } from '../../../src/cli/config/run.ts'
import { createProgram } from '../../../src/cli/program.ts'
import { commandsBelow, keyOf, pathOf, variableOf } from '../../../src/cli/shared/options/option-sources.ts'
import { withTempDir } from '../../support/devnet.ts'

afterEach(() => vi.unstubAllEnvs())

/** Options that a command would run with; throws what the command line refuses. */
const optionsOf = async (args: readonly string[]): Promise<Record<string, unknown>> => {
  const program = createProgram()
  let flags: Record<string, unknown> = {}
  const errors: string[] = []
  for (const command of [program, ...commandsBelow(program)]) {
    command.exitOverride().configureOutput({ outputError: text => void errors.push(text), writeErr: () => undefined })
    if (command.commands.length === 0)
      command.action(() => {
        flags = command.opts()
      })
  }
  await program.parseAsync([...args], { from: 'user' }).catch(error => {
    throw errors.length > 0 ? new Error(errors.join('')) : error
  })
  return flags
}

const withFile = <T>(text: string, use: (path: string) => Promise<T>): Promise<T> =>
  withTempDir(dir => {
    const path = join(dir, 'tandem.toml')
    writeFileSync(path, text)
    return use(path)
  })

describe('an option', () => {
  test('of a file gives way to the environment, and both to the command line', () =>
    withFile('[devnet]\nport = 1\naccounts = 2\nblock-time = 0.5\njson = true\n[start]\nport = 9\n', async file => {
      vi.stubEnv('TANDEM_ACCOUNTS', '3')
      vi.stubEnv('TANDEM_BLOCK_TIME', '2')
      const flags = await optionsOf(['devnet', '--config', file, '--block-time', '0'])
      expect(flags).toMatchObject({ port: 1, accounts: 3, blockTime: 0, json: true })
      vi.stubEnv('TANDEM_CONFIG', file)
      vi.stubEnv('TANDEM_JSON', 'false')
      expect(await optionsOf(['devnet'])).toMatchObject({ port: 1, accounts: 3, blockTime: 2, json: false })
      expect(await optionsOf(['--config', file, 'start', '--network', 'devnet', '--datadir', 'a'])).toMatchObject({
        port: 9,
      })
    }))

  test('that must be given may stand in a file, lists as arrays, and switches that are on are switched off', () =>
    withFile(
      '[start]\nnetwork = "testnet"\ndatadir = "a"\ndiscovery = false\ncors = ["https://a.example", "null"]\n',
      async file => {
        expect(await optionsOf(['start', '--config', file])).toMatchObject({
          ...{ network: 'testnet', datadir: 'a', discovery: false, cors: ['https://a.example', 'null'] },
        })
      },
    ))

  test('that is given several times is replaced as a whole by flags', () =>
    withFile(`[genesis.new]\nfund = ["0x${'11'.repeat(20)}=1", "0x${'22'.repeat(20)}=2"]\n`, async file => {
      const fundsOf = async (...args: readonly string[]) =>
        ((await optionsOf(['genesis', 'new', '--config', file, ...args]))['fund'] as { address: string }[]).map(
          ({ address }) => address.slice(0, 4),
        )
      expect(await fundsOf()).toEqual(['0x11', '0x22'])
      expect(await fundsOf('--fund', `0x${'33'.repeat(20)}=3`, '--fund', `0x${'44'.repeat(20)}=3`)).toEqual([
        '0x33',
        '0x44',
      ])
    }))

  test.each([
    ['[devnet]\nport = 70000', /tandem\.toml: devnet\.port: '70000' is invalid\. It must be a whole number/],
    ['[devnet]\njson = "yes"', /tandem\.toml: devnet\.json: 'yes' is invalid\. It must be true or false/],
    ['[devnet]\nprot = 1', /no command knows: devnet\.prot\./],
    ['port = 1', /no command knows: port\./],
    ['[devent]\nport = 1', /no command knows: devent\./],
    ['[key]\nkeystore = "a"', /no command knows: key\.keystore\./],
    ['[devnet\nport = 1', /tandem\.toml: Invalid TOML/],
    ['[start]\nlog-level = "loud"', undefined],
  ])('of %j is refused with its name', (text, reason) =>
    withFile(text, async file => {
      const taken = optionsOf(['devnet', '--config', file])
      if (reason === undefined) await taken
      else await expect(taken).rejects.toThrow(reason)
    }),
  )

  test('of a file that is too long is refused', () =>
    withFile(`#${'x'.repeat(1024 * 1024)}`, async file =>
      expect(optionsOf(['devnet', '--config', file])).rejects.toThrow(/more than 1048576 bytes/),
    ))

  test('of the environment is refused with the name of its variable', async () => {
    vi.stubEnv('TANDEM_BLOCK_TIME', 'soon')
    await expect(optionsOf(['devnet'])).rejects.toThrow(/TANDEM_BLOCK_TIME: 'soon' is invalid\. It must be seconds/)
  })

  test('has a name of its own among those of its command, and none that the program itself uses', () => {
    for (const { options } of commandsBelow(createProgram())) {
      // --no-x is the same option as --x.
      const names = new Set(options.map(option => option.attributeName()))
      expect(new Set(options.map(keyOf)).size).toBe(names.size)
      for (const option of options)
        expect(['TANDEM_CONFIG', 'TANDEM_PASSWORD', 'TANDEM_TRACE']).not.toContain(variableOf(option))
    }
  })
})

describe('the command config', () => {
  const printed = (): { readonly text: () => string } => {
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    return {
      text: () => {
        const text = write.mock.calls.map(([part]) => String(part)).join('')
        write.mockRestore()
        return text
      },
    }
  }

  const printOf = (program: Command): Command =>
    commandsBelow(program).find(each => pathOf(each).join(' ') === 'config print') as Command

  test('prints what a command would run with, as a file that gives the same', () =>
    withFile('[explorer]\nport = 7\nnode = "ws://a:1"\n', async file => {
      vi.stubEnv('TANDEM_DATADIR', '/d')
      const out = printed()
      const caller = createProgram()
      caller.setOptionValue('config', file)
      await printConfig(printOf(caller), createProgram(), [
        'explorer',
        '--database',
        'postgres://user:secret@h/d',
        '--json',
      ])
      const text = out.text()
      expect(text).toContain('port = 7  # from the file')
      expect(text).toContain('datadir = "/d"  # from TANDEM_DATADIR')
      expect(text).toContain('database = "postgres://user:***@h/d"  # from the command line')
      expect(text).toContain('json = true  # from the command line')
      expect(text).not.toContain('secret')
      vi.unstubAllEnvs()
      await withFile(text, async again =>
        expect(await optionsOf(['explorer', '--config', again])).toMatchObject({ port: 7, datadir: '/d', json: true }),
      )
    }))

  test('tells how it is used itself, and with a command how that one is', async () => {
    for (const [args, usage] of [
      [['--help'], 'Usage: tandem config print'],
      [['-h'], 'Usage: tandem config print'],
      [['start', '--help'], 'Usage: tandem start'],
    ] as const) {
      const [caller, program] = [createProgram(), createProgram()]
      let text = ''
      for (const root of [caller, program])
        for (const command of [root, ...commandsBelow(root)])
          command.exitOverride().configureOutput({ writeOut: part => (text += part) })
      await expect(printConfig(printOf(caller), program, args)).rejects.toMatchObject({ exitCode: 0 })
      expect(text).toContain(usage)
    }
  })

  test('checks the values of every table', () =>
    withFile('[start]\nport = 1\n[genesis.new]\nout = "a"\n', async file => {
      const out = printed()
      await checkConfig(createProgram, file)
      expect(out.text()).toContain('is right: it has options of start, genesis new.')
    }))
})

test.each(['bash', 'zsh'] as const)('completion in %s has the commands, options and choices', shell => {
  const script = renderCompletion(createProgram(), shell)
  const complete = (...words: readonly string[]): readonly string[] => {
    const text = `${script.replace(/^autoload.*$/m, '')}\nCOMP_WORDS=(tandem "$@"); COMP_CWORD=$#; _tandem; echo "\${COMPREPLY[@]}"`
    return execFileSync('bash', ['-c', text, 'bash', ...words], { encoding: 'utf8' })
      .trim()
      .split(' ')
  }
  expect(complete('start', '--net')).toEqual(['--network'])
  expect(complete('start', '--network', '')).toEqual(['mainnet', 'testnet', 'devnet'])
  expect(complete('key', 'w')).toEqual(['watermark'])
  expect(complete('key', 'watermark', '')).toEqual(expect.arrayContaining(['export', 'import']))
  expect(complete('dev')).toEqual(['devnet'])
})

test('completion in fish has a line for each option of each command', () => {
  const program = createProgram()
  const lines = renderCompletion(program, 'fish').trim().split('\n')
  const wanted = [program as Command, ...commandsBelow(program)].flatMap(({ options, commands }) => [
    ...options,
    ...commands,
  ])
  expect(lines).toHaveLength(wanted.length)
  expect(lines).toContainEqual(
    expect.stringMatching(/-n '__fish_seen_subcommand_from start' -l network -x -a 'mainnet testnet devnet'/),
  )
  expect(pathOf(program)).toEqual([])
})
