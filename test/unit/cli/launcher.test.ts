import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { expect, test } from 'vitest'
import { explainSystemError } from '../../../src/cli/shared/explain-error.ts'
import { withTempDir } from '../../support/devnet.ts'

/** The launcher in a folder of its own, with a program that only says that it ran, and an npm that only says what it was told. */
const withLauncher = (use: (start: () => string, install: (name: string) => void) => void): Promise<void> =>
  withTempDir(async root => {
    const write = (path: string, text: string, mode = 0o600): void => {
      mkdirSync(join(root, path, '..'), { recursive: true })
      writeFileSync(join(root, path), text, { mode })
    }
    cpSync('bin/tandem.mjs', join(root, 'bin', 'tandem.mjs'))
    write(
      'package.json',
      JSON.stringify({ type: 'module', dependencies: { fastify: '1.0.0', '@scope/later': '1.0.0' } }),
    )
    write('src/cli/main.ts', "process.stdout.write('started')")
    write('tools/npm', '#!/bin/sh\necho "npm $*" >&2\n', 0o700)
    const env = {
      ...process.env,
      PATH: `${join(root, 'tools')}${delimiter}${process.env['PATH']}`,
      NODE_COMPILE_CACHE: '',
    }
    use(
      () => {
        const { stdout, stderr } = spawnSync(process.execPath, [join(root, 'bin', 'tandem.mjs')], {
          encoding: 'utf8',
          env,
        })
        return stderr + stdout
      },
      name => write(join('node_modules', name, 'package.json'), '{}'),
    )
  })

test('what is missing of the installation is installed, also where most of it is there', () =>
  withLauncher((start, install) => {
    expect(start()).toMatch(/^Installing what the node needs .*\nnpm ci --omit=dev .*\nstarted$/)
    install('fastify')
    expect(start(), 'cut short, or of older source').toMatch(/\nnpm ci --omit=dev .*\nstarted$/)
    install('@scope/later')
    expect(start()).toBe('started')
  }))

test('a missing package says what to run', () => {
  const error = Object.assign(new Error("Cannot find package 'ws' imported from a.ts"), {
    code: 'ERR_MODULE_NOT_FOUND',
  })
  expect(explainSystemError(error)).toMatch(/^Cannot find package 'ws' .*: run "npm ci"/)
})
