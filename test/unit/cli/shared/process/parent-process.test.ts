import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'

const PROGRAM = `
import { closeSync, openSync } from 'node:fs'
import { onParentExit } from './src/cli/shared/process/parent-process.ts'
let said = 'alive'
onParentExit(() => { said = 'ended' })
const open = []
try { for (;;) open.push(openSync('/dev/null', 'r')) } catch (error) { said += ' ' + error.code }
setTimeout(() => { for (const file of open) closeSync(file); console.log(said) }, 1_800)
`

test('a process without an open file left does not take its parent for gone', () => {
  const { stdout, stderr } = spawnSync(
    'sh',
    ['-c', 'ulimit -n 64; exec "$0" --input-type=module-typescript --eval "$1"', process.execPath, PROGRAM],
    { encoding: 'utf8', env: { ...process.env, npm_lifecycle_event: 'devnet' } },
  )
  expect(stdout.trim(), stderr).toBe('alive EMFILE')
})
