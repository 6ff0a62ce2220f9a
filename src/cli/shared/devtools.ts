import { existsSync } from 'node:fs'
import type { Command } from 'commander'

const FOLDER = new URL('../../../devtools/', import.meta.url)

/** Loads a file of the folder `devtools`, which a checkout has and an installed package has not. */
export const importDevtool = async <T>(path: string, user: string): Promise<T> => {
  const url = new URL(path, FOLDER)
  if (!existsSync(url))
    throw new Error(`${user} needs the folder devtools, which only a checkout of the repository has: run it there.`)
  return import(url.href)
}

/** Commands of `devtools` without their options: each hands over to the program that has them. */
export const addDevtoolCommands = (program: Command): void => {
  const add = (name: string, description: string): void => {
    program
      .command(name)
      .description(`${description} (in a checkout)`)
      .helpOption(false)
      .allowUnknownOption()
      .allowExcessArguments()
      .action(async () => {
        const devtools = await importDevtool<{ createFullProgram: () => Command }>('program.ts', `tandem ${name}`)
        await devtools.createFullProgram().parseAsync()
      })
  }
  add('statetest', 'Run public state tests')
  add('blocktest', 'Run public blockchain tests')
  add('fixture', 'Execute a recorded chain of an Ethereum client and serve it, for conformance tests')
  add('sim', 'Run whole committees in virtual time with faults drawn from a seed')
}
