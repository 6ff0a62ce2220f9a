import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tandem } from '../support/command.ts'
import { startNode } from '../support/devnet.ts'
import { CHAIN_PATH, GENESIS_PATH, HEAD_HASH } from '../support/recorded/chain.ts'

let dir: string
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'tandem-fixture-cli-'))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const fixture = (genesis: string, chain: string, more: readonly string[] = []): readonly string[] => [
  ...['fixture', '--genesis', genesis, '--chain', chain, '--port', '0'],
  ...more,
]
const fileOf = (name: string, content: string | Uint8Array): string => {
  const path = join(dir, name)
  writeFileSync(path, content)
  return path
}

test('a recorded chain is served until the signal, and leaves nothing behind', async () => {
  const tmp = join(dir, 'tmp')
  mkdirSync(tmp)
  const node = await startNode(fixture(GENESIS_PATH, CHAIN_PATH), { TMPDIR: tmp })
  expect(node).toMatchObject({ ready: true, chainId: 3_503_995_874_084_926, accounts: [] })
  expect(await node.rpc('eth_getBlockByNumber', ['latest', false])).toMatchObject({ hash: HEAD_HASH })
  // The namespaces of mainnet, until told otherwise.
  expect(Object.keys(await node.rpc<object>('rpc_modules')).sort()).toEqual(['eth', 'native', 'net', 'rpc'])
  expect(await (await fetch(`${node.http}/health`)).json()).toMatchObject({ healthy: true })
  expect(readdirSync(tmp)).toHaveLength(1)
  expect(await node.stop()).toMatchObject({ code: 0 })
  expect(readdirSync(tmp)).toEqual([])
})

test('uncles of proof of work and withdrawals of proof of stake are served', async () => {
  const node = await startNode(fixture(GENESIS_PATH, CHAIN_PATH, ['--execution', 'wasm']))
  const { uncles } = await node.rpc<{ uncles: string[] }>('eth_getBlockByNumber', ['0x3', false])
  expect(await node.rpc('eth_getUncleCountByBlockNumber', ['0x3'])).toBe('0x1')
  expect(await node.rpc('eth_getUncleByBlockNumberAndIndex', ['0x3', '0x0'])).toMatchObject({ hash: uncles[0] })
  expect(await node.rpc('eth_getUncleByBlockNumberAndIndex', ['0x3', '0x1'])).toBeNull()
  const { withdrawals } = await node.rpc<{ withdrawals: object[] }>('eth_getBlockByNumber', ['0x27', false])
  expect(withdrawals).toEqual([{ index: '0x0', validatorIndex: '0x5', address: expect.any(String), amount: '0x64' }])
  await node.stop()
})

const chain = readFileSync(CHAIN_PATH)
const genesis = JSON.parse(readFileSync(GENESIS_PATH, 'utf8'))

test.each([
  ['no genesis file', () => fixture('nowhere.json', CHAIN_PATH), /--genesis: .*nowhere\.json cannot be read/],
  ['no chain file', () => fixture(GENESIS_PATH, 'nowhere.rlp'), /--chain: .*nowhere\.rlp cannot be read/],
  [
    'a genesis of this network',
    () => fixture(fileOf('own.json', '{"format":"tandem/1"}'), CHAIN_PATH),
    /genesis file is not usable/,
  ],
  [
    'a file that is no chain',
    () => fixture(GENESIS_PATH, fileOf('text.rlp', 'blocks')),
    /cannot be read: block 1 of the file: rlp: expected List/,
  ],
  [
    'a chain that is cut short',
    () => fixture(GENESIS_PATH, fileOf('short.rlp', chain.subarray(0, -1))),
    /block 54 of the file: rlp: value size exceeds/,
  ],
  [
    'the genesis of another chain',
    () => fixture(fileOf('other.json', JSON.stringify({ ...genesis, timestamp: '0x1' })), CHAIN_PATH),
    /Block 1 of the recorded chain says parentHash is 0x44fd.*, its execution gives 0x/,
  ],
  ['a namespace that is none', () => fixture(GENESIS_PATH, CHAIN_PATH, ['--http-api', 'eth,engine']), /engine/],
])('%s is answered in a line that says what to do', async (_, args, text) => {
  const { code, stderr, stdout } = await tandem(args())
  expect(stderr).toMatch(text)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
})
