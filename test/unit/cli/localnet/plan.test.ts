import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openLocalnet } from '../../../../src/cli/localnet/folder.ts'
import { planNodes, portsFrom, startArgs } from '../../../../src/cli/localnet/plan.ts'
import { reservePorts } from '../../../../src/cli/localnet/ports.ts'
import {
  DEFAULT_SETTINGS,
  parseSettings,
  resolveSettings,
  settingsText,
} from '../../../../src/cli/localnet/settings.ts'
import { errorMessage } from '../../../../src/cli/shared/output.ts'
import { parseGenesis } from '../../../../src/config/genesis/genesis.ts'

const FLAGS = {
  trustMissingLog: false,
  host: '127.0.0.1',
  metrics: false,
  stratum: false,
  execution: 'wasm',
  stateHistory: 128,
  logLevel: 'info',
} as const

describe('the plan', () => {
  test('names, folders and ports of all nodes', () => {
    expect(planNodes(2, 1, '/net').map(({ name, folder, isValidator }) => [name, folder, isValidator])).toEqual([
      ['validator-1', '/net/validator-1', true],
      ['validator-2', '/net/validator-2', true],
      ['full-1', '/net/full-1', false],
    ])
    expect(portsFrom(8545, 2)).toEqual([
      { http: 8545, operator: 8546, metrics: 8547, p2p: 8548, stratum: 8549 },
      { http: 8555, operator: 8556, metrics: 8557, p2p: 8558, stratum: 8559 },
    ])
    expect(() => portsFrom(65_520, 2)).toThrow('2 nodes take the ports up to 65539, beyond 65535')
    expect(portsFrom(65_516, 2)).toHaveLength(2)
  })

  test('a validator has its key, a full node has none, and all others are its peers', () => {
    const [validator, full] = planNodes(1, 1, '/net') as [never, never]
    const [ports] = portsFrom(9000, 1) as [never]
    const context = { genesis: '/net/genesis.json', peers: ['tandem://a', 'tandem://b'], flags: FLAGS }
    expect(startArgs(validator, ports, context).join(' ')).toBe(
      'start --network devnet --genesis /net/genesis.json --datadir /net/validator-1 --validator-key /net/validator-1/validator.key' +
        ' --host 127.0.0.1 --port 9000 --operator-port 9001 --p2p-host 127.0.0.1 --p2p-port 9003 --no-discovery' +
        ' --peers tandem://a,tandem://b --execution wasm --state-history 128 --log-level info --cors localhost --json',
    )
    const alone = startArgs(full, ports, { ...context, peers: [], flags: { ...FLAGS, metrics: true, cors: ['*'] } })
    expect(alone.join(' ')).toBe(
      'start --network devnet --genesis /net/genesis.json --datadir /net/full-1 --host 127.0.0.1 --port 9000' +
        ' --operator-port 9001 --p2p-host 127.0.0.1 --p2p-port 9003 --no-discovery --metrics-port 9002' +
        ' --execution wasm --state-history 128 --log-level info --cors * --json',
    )
    const mine = '0x3333333333333333333333333333333333333333'
    const miners = { ...context, flags: { ...FLAGS, mine, stratum: true } } as const
    expect(startArgs(validator, ports, miners).join(' ')).toContain(
      ` --mine --mine-coinbase ${mine} --mine-duty 0.25 --stratum 9004 `,
    )
    expect(startArgs(full, ports, miners)).not.toContain('--mine')
    const trusting = { ...context, flags: { ...FLAGS, trustMissingLog: true } }
    expect(startArgs(validator, ports, trusting)).toContain('--trust-missing-log')
  })
})

describe('ports', () => {
  test('free ones are all different, and free again', async () => {
    const ports = (await reservePorts(0, 3, '127.0.0.1')).flatMap(each => Object.values(each))
    expect(new Set(ports).size).toBe(15)
    expect(ports.every(port => port > 0)).toBe(true)
    const others = (await reservePorts(0, 3, '127.0.0.1')).flatMap(each => Object.values(each))
    expect(new Set([...ports, ...others]).size, 'of another localnet at the same time').toBe(30)
    const first = ports[0] as number
    const server = createServer()
    await new Promise<void>(resolve => server.listen(first, '127.0.0.1', resolve))
    const error = await reservePorts(first, 1, '127.0.0.1').catch(thrown => thrown)
    expect(error).toMatchObject({ code: 'EADDRINUSE', port: first })
    const [, free] =
      /^Port \d+ is in use\. Stop the other program, or choose another --port: (\d+) is free, 0 /.exec(
        errorMessage(error),
      ) ?? []
    expect((Number(free) - first) % 10, errorMessage(error)).toBe(0)
    server.close()
  })
})

describe('the shape', () => {
  const shape = { ...DEFAULT_SETTINGS, validators: 7, blockTime: 0.5 }

  test('goes to a file and back', () => {
    expect(parseSettings(settingsText(shape), 'localnet.json')).toEqual(shape)
  })

  test('options make a new one, and may only repeat what one that is there says', () => {
    expect(resolveSettings({ validators: 7, blockTime: 0.5 }, undefined, 'net')).toEqual(shape)
    expect(resolveSettings({ validators: 7 }, shape, 'net')).toEqual(shape)
    expect(() => resolveSettings({ validators: 4 }, shape, 'net')).toThrow('made with another --validators')
    expect(() => resolveSettings({ balanceWei: 1n }, shape, 'net')).toThrow('made with another --balance')
  })

  test.each([
    '',
    'null',
    '[]',
    '{"format":"tandem-localnet/2"}',
    settingsText(shape).replace('7', '700'),
    settingsText(shape).replace('"10000', '"-1'),
    settingsText(shape).replace('"blockTime": 0.5', '"blockTime": "1"'),
    settingsText(shape).replace('"accounts": 10', '"accounts": 0'),
  ])('a damaged file is told: %j', text => {
    expect(() => parseSettings(text, 'net/localnet.json')).toThrow('net/localnet.json is damaged')
  })
})

describe('the folder', () => {
  let dir: string
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'tandem-test-'))
  })
  afterEach(() => rmSync(dir, { recursive: true, force: true }))

  test('is made once: keys, genesis and council stay, full nodes may come later', async () => {
    const made = await openLocalnet(dir, { validators: 2, accounts: 3 }, 0)
    const { council } = parseGenesis(readFileSync(made.genesisFile, 'utf8'))
    expect(council?.map(({ name, validator }) => [name, validator])).toEqual(
      made.nodes.map(({ name, validator }) => [name, validator]),
    )
    expect(made.accounts[0]?.address).toBe('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266')
    const again = await openLocalnet(dir, {}, 1)
    expect(again.nodes.slice(0, 2)).toEqual(made.nodes)
    expect(again.nodes[2]).toMatchObject({ name: 'full-1', validator: null })
    expect([again.genesisHash, again.localnetSettings]).toEqual([made.genesisHash, made.localnetSettings])
  })

  test('of something else, or half made, is refused', async () => {
    writeFileSync(join(dir, 'notes.txt'), 'mine')
    await expect(openLocalnet(dir, {}, 0)).rejects.toThrow('is not empty and holds no localnet')
  })
})
