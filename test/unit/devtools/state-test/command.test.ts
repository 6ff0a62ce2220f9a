import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { tandem } from '../../../support/command.ts'

const dir = mkdtempSync(join(tmpdir(), 'tandem-statetest-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const COINBASE = `0x${'cb'.repeat(20)}`
const EMPTY_TRIE = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'
const NO_LOGS = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347'

/** Nobody has anything, so every transaction is refused and the state stays empty. */
const fixture = (forks: readonly string[], root = EMPTY_TRIE) => ({
  env: {
    currentCoinbase: COINBASE,
    currentNumber: '0x1',
    currentTimestamp: '0x3e8',
    currentGasLimit: '0x1000000',
    currentDifficulty: '0x0',
    currentBaseFee: '0x7',
  },
  pre: {},
  transaction: {
    nonce: '0x0',
    gasPrice: '0xa',
    gasLimit: ['0x5208'],
    value: ['0x0'],
    data: ['0x'],
    to: COINBASE,
    secretKey: `0x${'46'.repeat(32)}`,
  },
  post: Object.fromEntries(
    forks.map(fork => [fork, [{ hash: root, logs: NO_LOGS, indexes: { data: 0, gas: 0, value: 0 } }]]),
  ),
})

const write = (name: string, content: unknown): string => {
  const path = join(dir, name)
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

const linesOf = (stdout: string): readonly Record<string, unknown>[] =>
  stdout
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line))

// Each run starts threads: one process serves several claims.
test('entries in the order of the files and of the tests in them, whichever thread is done first', async () => {
  // The first file has more to do than all the others.
  const names = Array.from({ length: 200 }, (_, i) => `test${i}`)
  const first = write('many/a.json', Object.fromEntries(names.map(name => [name, fixture(['London', 'Cancun'])])))
  const rest = ['b', 'c', 'd'].map(name => write(`many/deep/${name}.json`, { [name]: fixture(['Cancun', 'Moon']) }))
  const { stdout, stderr, code } = await tandem(['statetest', '--jobs', '2', join(dir, 'many')])
  const lines = linesOf(stdout)
  expect(lines.map(({ file, name, fork }) => [file, name, fork])).toEqual([
    ...names.flatMap(name => [
      [first, name, 'London'],
      [first, name, 'Cancun'],
    ]),
    ...rest.flatMap((file, i) => [
      [file, 'bcd'[i], 'Cancun'],
      [file, 'bcd'[i], 'Moon'],
    ]),
  ])
  expect(lines[0]).toEqual({
    name: 'test0',
    fork: 'London',
    index: 0,
    stateRoot: EMPTY_TRIE,
    logsHash: NO_LOGS,
    pass: true,
    txError: expect.stringContaining('INSUFFICIENT_FUNDS'),
    file: first,
  })
  expect(lines.at(-1)).toMatchObject({ skipped: true, reason: 'unknown fork' })
  expect(stderr).toBe('403 passed, 0 failed, 3 skipped\n')
  expect(code).toBe(0)
})

test('invalid files are reported one by one, and the others run', async () => {
  const good = write('good.json', { good: fixture(['London', 'Cancun']) })
  const absent = join(dir, 'absent.json')
  const torn = write('torn.json', '{"a": ')
  const { stdout, stderr, code } = await tandem(['statetest', absent, torn, good], {
    env: { STATETEST_FORKS: 'London' },
  })
  expect(linesOf(stdout).map(({ fork, pass }) => [fork, pass])).toEqual([['London', true]])
  const said = stderr.split('\n')
  expect(said[0]).toBe(`tandem: ${absent}: no such file or directory`)
  expect(said[1]).toMatch(new RegExp(`^tandem: ${torn}: file: not JSON: `))
  expect(said[2]).toBe('1 passed, 0 failed, 0 skipped, 2 of 3 files not read')
  expect(code).toBe(1)
})

test.each(['ethereumjs', 'shadow'])(
  'a root that differs fails, on %s too',
  async mode => {
    const wrong = write('wrong.json', { wrong: fixture(['Cancun'], `0x${'11'.repeat(32)}`) })
    const { stdout, stderr, code } = await tandem(['statetest', '--execution', mode, wrong])
    expect(linesOf(stdout)).toMatchObject([{ pass: false, stateRoot: EMPTY_TRIE }])
    expect([stderr, code]).toEqual(['0 passed, 1 failed, 0 skipped\n', 1])
  },
  30_000,
)
